/** What an Early Experience run collected, as a table in which every block adds up: the figures are the manifest's. */
import type { Dataset, DatasetPart, Manifest } from '#shared/schema/dataset.ts';
import { number } from './output.ts';

const WIDTH = 54;

const words: Record<string, string> = {
  overlong: 'overlong (limits.maxPromptTokens)',
  'prompt-too-long': 'prompt-too-long (the reflector’s)',
  review: 'review (a person)',
};
const leftOut = (filter: string): string => `left out: ${words[filter] ?? filter}`;

const parts: Record<DatasetPart, { title: string; candidates: string }> = {
  expert_sft: { title: 'imitation', candidates: 'expert states' },
  iwm_sft: { title: 'world model', candidates: 'accepted branches of this set' },
  reflection_sft: { title: 'self-reflection', candidates: 'reflections wanted' },
};

function line(name: string, value: number | null, level = 1): string[] {
  const indent = '  '.repeat(level);
  return value === null
    ? []
    : [`${indent}${name.padEnd(WIDTH - indent.length)}${number(value).padStart(10)}`];
}

const SHOWN_REFUSALS = 10;

/** What was given as a demonstration and is none, by line and reason. */
function refusalLines({ refusedDemonstrations: refused }: Manifest): string[] {
  if (refused === null || refused.total === 0) return [];
  const shown = refused.listed.slice(0, SHOWN_REFUSALS);
  const more = refused.total - shown.length;
  return [
    ...line('refused as demonstrations', refused.total),
    ...(refused.file === null ? [] : [`    of ${refused.file}`]),
    ...shown.map((one) => {
      const place = [
        ...(one.line === null ? [] : [`line ${String(one.line)}`]),
        ...(one.taskId === null ? [] : [`task ${one.taskId}`]),
      ];
      return `    ${place.join(', ')}: ${one.reason}`;
    }),
    ...(more > 0 ? [`    … and ${number(more)} more: refusedDemonstrations in manifest.json`] : []),
  ];
}

/** Used ones and those that were dropped, by reason, are all that were drawn. */
function proposalLines({ proposals, branches }: Manifest): string[] {
  if (proposals === null) return [];
  const { drawn, used, expert, duplicate, unreadable, inadmissible, excluded, surplus } = proposals;
  return [
    '',
    'Proposals: what the policy wrote as alternatives',
    ...line('drawn', drawn),
    ...line('executed as alternatives', used, 2),
    ...line('dropped: the expert’s own action', expert, 2),
    ...line('dropped: said before', duplicate, 2),
    ...line('dropped: no action could be read', unreadable, 2),
    ...line('dropped: not admissible (branching.sr.inadmissible)', inadmissible, 2),
    ...(excluded > 0 ? line('dropped: left out by branching.iwm.excludeActions', excluded, 2) : []),
    ...line('not needed: K was reached', surplus, 2),
    ...line('alternatives drawn from the admissible in their place', branches.refilled),
  ];
}

/** By purpose, and again by what became of them; old manifests know less. */
function branchLines({ branches }: Manifest): string[] {
  return [
    'Branches: one action each, executed from an expert state',
    ...line('all', branches.executed),
    ...line('the expert’s own action, once more', branches.expert, 2),
    ...line('alternatives for the world model (IWM)', branches.iwm, 2),
    ...line('alternatives for self-reflection (SR)', branches.sr, 2),
    ...line('all, again', branches.executed),
    ...line('proved and accepted', branches.accepted, 2),
    ...line('rejected (start not proved equal), not executed', branches.rejected, 2),
    '  of the accepted (one may be several of these)',
    ...line('invalid in the environment, kept as signal', branches.invalid, 2),
    ...line('not admissible, executed all the same', branches.inadmissible, 2),
    ...line('alternative with the expert’s outcome', branches.sameAsExpert, 2),
    ...line('refilled (bad or duplicate proposal)', branches.refilled, 2),
    ...line('drawn without asking the policy (prompt too long)', branches.unasked, 2),
    ...line('states whose prompt did not fit the policy', branches.promptTooLong),
  ];
}

/** Candidates, less what was left out for its first reason, are the rows. */
function fileLines(
  { filters, iwmTargets }: Manifest,
  { part, file, rows, repeated, candidates }: Manifest['files'][number],
) {
  const { title, candidates: wanted } = parts[part];
  const dropped = filters.filter((filter) => filter.part === part && filter.dropped > 0);
  const known =
    candidates !== null && part !== 'reflection_sft' && !dropped.some(({ filter }) => filter === 'overlong');
  return [
    `${file}: ${title}`,
    ...line(wanted, candidates),
    ...dropped.flatMap((one) => line(leftOut(one.filter), one.dropped, 2)),
    ...(known ? line(leftOut('overlong'), 0, 2) : []),
    ...line('rows', rows),
    ...(repeated === 0 ? [] : line('the same as an earlier row, kept', repeated, 2)),
    ...(part === 'iwm_sft' && iwmTargets !== null ? targetLines(iwmTargets) : []),
  ];
}

const SHOWN_KINDS = 5;

function targetLines({ rows, distinct, characters, kinds }: NonNullable<Manifest['iwmTargets']>): string[] {
  const share = (part: number, whole: number) =>
    whole === 0 ? '–' : `${((100 * part) / whole).toFixed(1)} %`;
  const shown = kinds.slice(0, SHOWN_KINDS);
  const rest = {
    kind: 'all others',
    rows: rows - shown.reduce((sum, one) => sum + one.rows, 0),
    characters: characters - shown.reduce((sum, one) => sum + one.characters, 0),
  };
  const kindLine = (one: typeof rest) =>
    `    ${one.kind.slice(0, 20).padEnd(22)}${number(one.rows).padStart(8)} rows ${share(one.rows, rows).padStart(8)} ${share(one.characters, characters).padStart(8)} of the target text`;
  return [
    ...line('distinct target texts', distinct),
    '  by command, most target text first',
    ...[...shown, ...(rest.rows > 0 ? [rest] : [])].map(kindLine),
  ];
}

function flagLines({ filters, files }: Manifest): string[] {
  const flagged = filters.filter((filter) => (filter.flagged ?? 0) > 0);
  if (flagged.length === 0 || files.every(({ part }) => part !== 'reflection_sft')) return [];
  return [
    '',
    'Flags on the reflections (one may carry several, so they do not add up; above each counts once, under its first)',
    ...flagged.flatMap(({ filter, flagged: texts }) => line(filter, texts)),
  ];
}

/** Of manifests from before filters had a part. */
function unplacedLines({ filters }: Manifest): string[] {
  return filters
    .filter(({ part }) => part === null)
    .flatMap(({ filter, dropped }) => line(leftOut(filter), dropped));
}

export function datasetText({ manifest, folder }: Dataset): string {
  return [
    'What was collected',
    ...line('tasks', manifest.tasks),
    ...line('expert demonstrations', manifest.demonstrations),
    ...refusalLines(manifest),
    ...line('expert states', manifest.states),
    '',
    ...branchLines(manifest),
    ...proposalLines(manifest),
    ...manifest.files.flatMap((file) => ['', ...fileLines(manifest, file)]),
    ...unplacedLines(manifest),
    ...flagLines(manifest),
    '',
    `Files: ${folder}`,
  ].join('\n');
}
