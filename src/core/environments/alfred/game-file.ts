/**
 * `game.tw-pddl`, the file format of ALFWorld's text games: one JSON object with the domain, the grammar (with the task sentence put
 * in), the problem, whether it can be solved, and a plan. We write the original's own domain and grammar, and read only games that
 * have them: under other rules our sentences would be wrong.
 */
import { z } from 'zod';
import { AppError, toAppError } from '#shared/errors.ts';
import { commandText } from './actions.ts';
import { loadGame } from './game.ts';
import type { AlfredGame } from './game.ts';
import { originalDomain } from './original/domain.ts';
import { originalGrammar } from './original/grammar.ts';
import { readProblem } from './problem-reader.ts';
import { writeProblem } from './problem-writer.ts';
import type { Problem } from './problem.ts';
import { SyntaxFault, tokens } from './s-expression.ts';
import { solve } from './solver.ts';

/** Official files have about 60 to 150 kB. */
export const largestGameFile = 16 * 1024 * 1024;

const gameFileSchema = z.object({
  pddl_domain: z.string(),
  grammar: z.string(),
  pddl_problem: z.string(),
  solvable: z.boolean().optional(),
  walkthrough: z.array(z.string()).nullish(),
});

export interface GameFile {
  readonly problem: Problem;
  /** `Your task is to: ….` */
  readonly taskText: string;
  /** null: the file does not say. */
  readonly solvable: boolean | null;
}

const placeholder = 'Your task is to: UNKNOWN GOAL.';

export function writeGameFile(problem: Problem, taskText: string): string {
  const game = loadGame(problem, taskText);
  const plan = solve(game, game.start());
  return JSON.stringify({
    pddl_domain: originalDomain,
    grammar: originalGrammar.replace(placeholder, () => taskText),
    pddl_problem: writeProblem(problem),
    solvable: plan !== null,
    walkthrough: plan?.map((action) => commandText(game.world, action)) ?? [],
  });
}

/**
 * @param file named in errors only
 * @throws AppError ENVIRONMENT_DATA_INVALID: file, line where there is one, and reason
 */
export function readGameFile(file: string, content: string): GameFile {
  const invalid = (reason: string, line: number | null = null): AppError =>
    new AppError({
      code: 'ENVIRONMENT_DATA_INVALID',
      message: `${file}${line === null ? '' : `, line ${String(line)} of pddl_problem`}: ${reason}.`,
      data: { file, reason, line },
    });
  if (content.length > largestGameFile) throw invalid(`larger than ${String(largestGameFile)} bytes`);
  let json: unknown;
  try {
    json = JSON.parse(content);
  } catch (error) {
    throw invalid(`not JSON (${error instanceof Error ? error.message.slice(0, 120) : 'unreadable'})`);
  }
  const parsed = gameFileSchema.safeParse(json);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw invalid(
      `not a game: ${issue?.path.join('.') ?? ''} ${issue?.message ?? 'has another shape'}`.trim(),
    );
  }
  const { pddl_domain: domain, grammar, pddl_problem: source, solvable } = parsed.data;
  if (!isOriginalDomain(domain)) {
    throw invalid(
      'its pddl_domain is not the one of ALFWorld 0.4 (alfred.pddl); other rules cannot be played',
    );
  }
  const taskText = taskOf(grammar);
  if (taskText === null) {
    throw invalid(
      'its grammar is not the one of ALFWorld 0.4 (alfred.twl2); other sentences cannot be played',
    );
  }
  try {
    return { problem: readProblem(source), taskText, solvable: solvable ?? null };
  } catch (error) {
    if (error instanceof SyntaxFault) throw invalid(error.reason, error.line);
    throw invalid(toAppError(error).message);
  }
}

/** Reads and builds in one go, so that a file which parses but cannot be played is also refused. @throws AppError ENVIRONMENT_DATA_INVALID */
export function loadGameFile(file: string, content: string): { game: AlfredGame; source: GameFile } {
  const source = readGameFile(file, content);
  try {
    return { game: loadGame(source.problem, source.taskText), source };
  } catch (error) {
    const reason = toAppError(error).message;
    throw new AppError({
      code: 'ENVIRONMENT_DATA_INVALID',
      message: `${file}: ${reason}`,
      data: { file, reason },
      cause: error,
    });
  }
}

function words(domain: string): string {
  return [...tokens(domain)].map(({ text }) => text).join(' ');
}

let knownDomain: string | null = null;
function isOriginalDomain(domain: string): boolean {
  knownDomain ??= words(originalDomain);
  try {
    return words(domain) === knownDomain;
  } catch {
    return false;
  }
}

/** The task sentence of a grammar that is the original's in everything else (white space aside), or null. */
function taskOf(grammar: string): string | null {
  const found = /"rhs": "(Your task is to: (?:[^"\\]|\\.)*)"/.exec(grammar);
  const task = found?.[1];
  if (found === null || task === undefined) return null;
  const blank = grammar.replace(found[0], () => `"rhs": "${placeholder}"`);
  if (squeezed(blank) !== squeezed(originalGrammar)) return null;
  try {
    return z.string().parse(JSON.parse(`"${task}"`));
  } catch {
    return null;
  }
}

function squeezed(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
