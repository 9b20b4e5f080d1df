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
    `- branches: ${number(branches.executed)} executed, ${number(branches.accepted)} proved and kept, ${number(branches.rejected)} rejected because their start could not be proved; ` +
      `${number(branches.invalid)} invalid outcomes are kept as signal`,
    ...(manifest.deviations.length === 0
      ? ['- no deviation from the paper']
      : manifest.deviations.map(({ label, reason }) => `- deviation \`${label}\`: ${reason}`)),
    ...manifest.filters.map(
      ({ filter, dropped, help }) => `- filter \`${filter}\` dropped ${number(dropped)}: ${help}`,
    ),
    '',
    `Environment licence: ${licences === '' ? 'not stated' : licences}. All facts, checksums and the whole configuration are in \`manifest.json\`.`,
    '',
  ].join('\n');
}

function number(value: number): string {
  return value.toLocaleString('en-US');
}
