/** Grammar specifications → llama.cpp's notation, and when an answer under one is complete. */
import type { Llama } from 'node-llama-cpp';
import type { GenerateParams } from '#shared/worker/inference.ts';
import { AppError, assertNever } from '#shared/errors.ts';

type GrammarSpec = NonNullable<GenerateParams['grammar']>;

export interface CompiledGrammar {
  source: string;
  /** True as soon as nothing may follow `text`; the grammar itself would only allow the end-of-turn token. */
  complete(text: string): boolean;
}

export async function compileGrammar(llama: Llama, spec: GrammarSpec): Promise<CompiledGrammar> {
  switch (spec.kind) {
    case 'choice':
      return compileChoice(spec);
    case 'json':
      return { source: await jsonSource(llama, spec.schema), complete: isWholeJson };
    case 'gbnf':
      return { source: spec.source, complete: () => false };
    default:
      return assertNever(spec);
  }
}

function compileChoice(spec: Extract<GrammarSpec, { kind: 'choice' }>): CompiledGrammar {
  const { prefix = '', suffix = '' } = spec;
  const options = [...new Set(spec.options)];
  const part = (text: string): string => (text === '' ? '' : `${literal(text)} `);
  const source = `root ::= ${part(prefix)}( ${options.map(literal).join(' | ')} ) ${suffix === '' ? '' : literal(suffix)}`;
  const answers = options.map((option) => prefix + option + suffix);
  const final = new Set(
    answers.filter((answer) => !answers.some((other) => other !== answer && other.startsWith(answer))),
  );
  return { source, complete: (text) => final.has(text) };
}

async function jsonSource(llama: Llama, schema: unknown): Promise<string> {
  if (typeof schema !== 'object' || schema === null) {
    throw new AppError({ code: 'INVALID_INPUT', message: 'A JSON grammar needs a JSON schema object.' });
  }
  try {
    const grammar = await llama.createGrammarForJsonSchema(
      schema as Parameters<Llama['createGrammarForJsonSchema']>[0],
    );
    return grammar.grammar;
  } catch (error) {
    throw new AppError({
      code: 'INVALID_INPUT',
      message: `This JSON schema cannot be made into a grammar: ${error instanceof Error ? error.message : String(error)}`,
      cause: error,
    });
  }
}

function isWholeJson(text: string): boolean {
  if (!/[}\]"]\s*$/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** A quoted literal of GBNF. */
function literal(text: string): string {
  const escaped = text
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replaceAll('\n', '\\n')
    .replaceAll('\r', '\\r')
    .replaceAll('\t', '\\t');
  return `"${escaped}"`;
}
