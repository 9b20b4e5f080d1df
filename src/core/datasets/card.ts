/** The folder's README.md: a Hugging Face card whose `configs` make `load_dataset(folder, "iwm_sft")` work. */
import type { DatasetPart, Manifest } from '#shared/schema/dataset.ts';

const PART_HELP: Record<DatasetPart, string> = {
  expert_sft: 'imitation: state → expert action (Eq. 1)',
  iwm_sft: 'implicit world modelling: state, action → next observation (Eq. 3)',
  reflection_sft: 'self-reflection: state → reasoning and expert action (Eq. 4)',
};

export function datasetCard(manifest: Manifest, name: string): string {
  // A loader fails on an empty file, so a part without rows is no configuration.
  const filled = manifest.files.filter(({ rows }) => rows > 0);
  const configs = filled.flatMap(({ part, file }) => [`- config_name: ${part}`, `  data_files: ${file}`]);
  const licences = [...new Set(manifest.environments.map(({ licence }) => licence))].join(', ');
  const { branches } = manifest;
  return [
    '---',
    `pretty_name: ${JSON.stringify(name)}`,
    'language:\n- en',
    'task_categories:\n- text-generation',
    'tags:\n- agents\n- early-experience',
    ...(configs.length === 0 ? [] : ['configs:', ...configs]),
    '---',
    '',
    `# ${name}`,
    '',
    `Early Experience data (arXiv 2510.08558) collected by Daydream ${manifest.application.version} in ` +
      `${manifest.environments.map(({ id, version }) => `${id} ${version}`).join(', ')}: ${number(manifest.tasks)} tasks, ` +
      `${number(manifest.demonstrations)} demonstrations, ${number(manifest.states)} states.`,
    '',
    '| file | rows | what it trains |',
    '|---|---|---|',
    ...manifest.files.map(({ file, part, rows }) => `| \`${file}\` | ${number(rows)} | ${PART_HELP[part]} |`),
    '',
    'Each line holds `id`, `messages` (OpenAI form) and `meta`. The loss is on the last message only.',
    '',
    '```python',
    'from datasets import load_dataset',
    `rows = load_dataset("path/of/this/folder", "${filled[0]?.part ?? 'expert_sft'}", split="train")`,
    '```',
    '',
    '## How it was made',
    '',
    `- profile \`${manifest.profile}\`, seed ${String(manifest.seed)}, configuration ${manifest.configSha256.slice(0, 12)}`,
    ...manifest.models.map(
      ({ role, label, sha256 }) => `- ${role}: ${label}${sha256 === null ? '' : ` (${sha256.slice(0, 12)})`}`,
    ),
    `- branches: ${number(branches.executed)} in all${purposes(branches)}; ${number(branches.accepted)} proved and kept, ${number(branches.rejected)} rejected because their start could not be proved; ` +
      `${number(branches.invalid)} invalid outcomes are kept as signal`,
    ...(branches.promptTooLong === null
      ? []
      : [
          `- states whose prompt did not fit the policy: ${number(branches.promptTooLong)}; alternatives drawn there without asking it: ${number(branches.unasked ?? 0)}`,
        ]),
    ...proposals(manifest),
    ...refused(manifest),
    ...repeated(manifest),
    ...(manifest.deviations.length === 0
      ? ['- no deviation from the paper']
      : manifest.deviations.map(({ label, reason }) => `- deviation \`${label}\`: ${reason}`)),
    '',
    ...leftOut(manifest),
    ...targets(manifest),
    `Environment licence: ${licences === '' ? 'not stated' : licences}. All facts, checksums and the whole configuration are in \`manifest.json\`.`,
    '',
  ].join('\n');
}

function proposals({ proposals: counts }: Manifest): string[] {
  if (counts === null) return [];
  return [
    `- proposals of the policy: ${number(counts.drawn)} drawn, ${number(counts.used)} executed; dropped: ${number(counts.expert)} the expert’s action, ` +
      `${number(counts.duplicate)} said before, ${number(counts.unreadable)} unreadable, ${number(counts.inadmissible)} not admissible, ${number(counts.excluded)} left out by the run; ${number(counts.surplus)} not needed`,
  ];
}

function refused({ refusedDemonstrations }: Manifest): string[] {
  if (refusedDemonstrations === null || refusedDemonstrations.total === 0) return [];
  return [
    `- refused as demonstrations: ${number(refusedDemonstrations.total)}, with line and reason in \`manifest.json\``,
  ];
}

function repeated({ files }: Manifest): string[] {
  return files.flatMap(({ file, rows, repeated: count }) =>
    count === null || count === 0
      ? []
      : [
          `- \`${file}\`: ${number(count)} of ${number(rows)} rows repeat an earlier one word for word; they are kept`,
        ],
  );
}

function purposes({ expert, iwm, sr }: Manifest['branches']): string {
  if (expert === null || iwm === null || sr === null) return '';
  return ` (${number(expert)} the expert’s own action once more, ${number(iwm)} alternatives for IWM, ${number(sr)} for SR)`;
}

/** File by file: rows = candidates − what is left out, each once. */
function leftOut({ files, filters }: Manifest): string[] {
  const parts = files.flatMap(({ part, file, rows, candidates }) => {
    const own = filters.filter((filter) => filter.part === part);
    if (candidates === null || own.length === 0) return [];
    return [
      `\`${file}\`: of ${number(candidates)} candidates ${number(candidates - rows)} are left out, each counted once under its first reason.`,
      '',
      '| reason | left out | flagged | what it is |',
      '|---|---|---|---|',
      ...own.map(
        ({ filter, dropped, flagged, help }) =>
          `| ${filter} | ${number(dropped)} | ${flagged === null ? '' : number(flagged)} | ${help} |`,
      ),
      '',
    ];
  });
  const unplaced = filters.filter(({ part }) => part === null);
  const old = unplaced.map(
    ({ filter, dropped, help }) => `- filter \`${filter}\` dropped ${number(dropped)}: ${help}`,
  );
  const all = [...parts, ...old, ...(old.length === 0 ? [] : [''])];
  return all.length === 0 ? [] : ['## What was left out', '', ...all];
}

const SHOWN_KINDS = 5;

function targets({ iwmTargets }: Manifest): string[] {
  if (iwmTargets === null || iwmTargets.characters === 0) return [];
  const { rows, distinct, characters, kinds } = iwmTargets;
  const percent = (part: number, whole: number) => `${((100 * part) / whole).toFixed(1)} %`;
  return [
    '## What the world model would predict',
    '',
    `${number(distinct)} distinct targets in ${number(rows)} rows. Commands with the most target text:`,
    '',
    '| command | rows | share of rows | share of target characters |',
    '|---|---|---|---|',
    ...kinds
      .slice(0, SHOWN_KINDS)
      .map(
        (one) =>
          `| \`${one.kind.replaceAll('|', '/')}\` | ${number(one.rows)} | ${percent(one.rows, rows)} | ${percent(one.characters, characters)} |`,
      ),
    '',
  ];
}

function number(value: number): string {
  return value.toLocaleString('en-US');
}
