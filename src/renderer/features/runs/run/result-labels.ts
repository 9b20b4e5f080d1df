/** What each number of a stage's result counts, in words that say its unit; a name of a later version is told as it stands. */
import { flagLabels } from '../../../ui/flag-labels.ts';

const labels: Readonly<Record<string, string>> = {
  demonstrations: 'Demonstrations',
  rejected: 'Rejected and never used',
  states: 'Expert states branched',
  failedEpisodes: 'Demonstrations that failed',
  realSteps: 'Real environment steps',
  shortSets: 'States with fewer than K alternatives',
  missingAlternatives: 'Alternatives missing to K',
  executed: 'Branches executed',
  expert: 'The expert’s own actions',
  iwm: 'Alternatives for the world model',
  sr: 'Alternatives for self-reflection',
  accepted: 'Branches accepted',
  invalid: 'Invalid actions, kept as signal',
  inadmissible: 'Inadmissible actions',
  sameAsExpert: 'Same outcome as the expert',
  refilled: 'Alternatives refilled to keep K',
  unasked: 'Alternatives drawn without asking the policy',
  tooLong: 'Prompts that did not fit',
  promptTooLong: 'States whose prompt did not fit',
  modelCalls: 'Model calls',
  promptTokens: 'Prompt tokens',
  evaluatedPromptTokens: 'Prompt tokens computed',
  completionTokens: 'Tokens written',
  texts: 'Texts asked for',
  kept: 'Texts kept by the filters',
  dropped: 'Texts dropped by the filters',
  attempts: 'Attempts at texts',
  withoutAlternatives: 'States without an alternative to compare',
  episodes: 'Episodes',
  reused: 'Episodes known from earlier runs',
  scored: 'Episodes scored',
  successes: 'Episodes that reached the goal',
  successRate: 'Success, share of scored episodes',
  meanReward: 'Mean reward of an episode',
  failed: 'Failures of the machinery',
  steps: 'Steps',
  invalidActions: 'Steps with an invalid action',
  parseFailures: 'Answers without a readable action',
};

const proposals: Readonly<Record<string, string>> = {
  expert: 'the expert’s own action',
  duplicate: 'proposed before',
  unreadable: 'unreadable',
  inadmissible: 'not admissible',
  excluded: 'excluded by the run',
};

function words(name: string): string {
  return name
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .replaceAll(/[-_]/g, ' ')
    .toLowerCase();
}

function flagWords(name: string): string {
  return (Object.entries(flagLabels).find(([flag]) => flag === name)?.[1].label ?? words(name)).toLowerCase();
}

/** null: of no use to a reader. */
export function resultLabel(path: readonly string[]): string | null {
  const [first = '', second = '', third] = path;
  if (path.length === 1) {
    // Only the ratio to tokens is made of it, in the manifest.
    if (first === 'promptCharacters') return null;
    const text = labels[first] ?? words(first);
    return text.charAt(0).toUpperCase() + text.slice(1);
  }
  if (first === 'droppedProposals') return `Proposals dropped: ${proposals[second] ?? words(second)}`;
  if (first === 'droppedBy') return `Texts dropped: ${flagWords(second)}`;
  if (first === 'flagged') return `Texts flagged: ${flagWords(second)}`;
  if (first === 'endReasons') return `Episodes ended: ${words(second)}`;
  if (first === 'byTaskType')
    return `${words(second)}: ${third === 'successes' ? 'successes' : 'episodes scored'}`;
  // What a summary repeats of a stage.
  return resultLabel(path.slice(1)) ?? words(path.join(' '));
}
