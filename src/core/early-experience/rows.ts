/** One demonstration with its branches and reflections → the rows of the three sets. */
import type { Branch, Reflection } from '#shared/schema/branch.ts';
import type { DatasetPart, PlainMessage, SftRow } from '#shared/schema/dataset.ts';
import type { EarlyExperienceRun } from '#shared/schema/run.ts';
import { branchKey, reflectionKey } from '#shared/row-key.ts';
import type { PromptSettings } from '#core/agents/index.ts';
import { agentMessages, expertAnswer, identityHash } from '#core/agents/index.ts';
import type { Demonstration, ExpertState } from '#core/early-experience/expert-states.ts';
import { expertStates, placeholderThought } from '#core/early-experience/expert-states.ts';
import { iwmMessages, iwmTarget } from '#core/early-experience/iwm.ts';
import { writesReflections } from '#core/early-experience/profile.ts';
import { reflectionMessages } from '#core/early-experience/reflection.ts';

export interface RowSource {
  demonstration: Demonstration;
  /** Of this run's branching job. */
  branches: readonly Branch[];
  /** Of this run's reflection job, those that its verdicts let out. */
  exported: readonly Reflection[];
}

export interface RowOptions {
  run: EarlyExperienceRun;
  actionGuide: string;
  settings: PromptSettings;
}

/** Each candidate in the order of the states; `row` is null where a branch left nothing to predict. */
export function* demonstrationRows(
  source: RowSource,
  options: RowOptions,
): Generator<{ part: DatasetPart; row: SftRow | null }> {
  const { run, actionGuide } = options;
  const settings = rowSettings(run, options.settings);
  const thought = placeholderThought(run);
  for (const state of expertStates(source.demonstration, { actionGuide, placeholderThought: thought })) {
    yield { part: 'expert_sft', row: expertRow(source.demonstration, state, thought, settings) };
    const here = source.branches.filter(({ stepIndex }) => stepIndex === state.stepIndex);
    for (const branch of here.filter((one) => isIwmBranch(one, run))) {
      yield { part: 'iwm_sft', row: iwmRow(source.demonstration, state, branch, options) };
    }
    for (const reflection of source.exported.filter(({ stepIndex }) => stepIndex === state.stepIndex)) {
      const compared = reflection.branchIds.flatMap(
        (id) => here.find(({ branchId }) => branchId === id) ?? [],
      );
      const row = reflectionRow(source.demonstration, state, { reflection, compared }, settings);
      yield { part: 'reflection_sft', row };
    }
  }
}

/**
 * D_expert and D_refl are mixed in one pass over the same s_i (section 4.3), and every method of an environment has one prompt
 * format (section 5.1): both sets get the same system prompt. Reflections are reasoning, so where they are written it is the
 * prompt that allows a thought (and lets it be left out, as most experts do), also when the policy that collected acts without.
 */
function rowSettings(run: EarlyExperienceRun, settings: PromptSettings): PromptSettings {
  return { ...settings, thought: settings.thought || writesReflections(run) };
}

/** Eq. 1: a_i after s_i, in the very messages that the evaluator sends. */
function expertRow(
  demonstration: Demonstration,
  state: ExpertState,
  placeholder: string | null,
  settings: PromptSettings,
): SftRow {
  const input = agentMessages(state.state, settings).map(({ role, content }): PlainMessage => ({
    role,
    content,
  }));
  const target: PlainMessage = {
    role: 'assistant',
    content: state.outcome.completion ?? expertAnswer(state.outcome, placeholder),
  };
  const ids = state.outcome.tokens?.completionTokens ?? [];
  return row('il', demonstration, state, [...input, target], {
    source: demonstration.episode.policy.kind,
    completion_tokens: ids.length > 0 ? [...ids] : null,
  });
}

/** Eq. 3. Invalid outcomes are signal and stay in. */
function iwmRow(
  demonstration: Demonstration,
  state: ExpertState,
  branch: Branch,
  { run, settings }: RowOptions,
): SftRow | null {
  const messages = iwmMessages(state.state, branch, {
    history: settings.history,
    style: settings.style,
    stripRewardText: run.export.stripRewardText,
  });
  if (messages === null) return null;
  return row('iwm', demonstration, state, messages, {
    action: branch.action,
    source: branch.source,
    valid: branch.valid,
    branch_ids: [branchKey(branch)],
  });
}

/** Eq. 4. */
function reflectionRow(
  demonstration: Demonstration,
  state: ExpertState,
  { reflection, compared }: { reflection: Reflection; compared: readonly Branch[] },
  settings: PromptSettings,
): SftRow {
  const messages = reflectionMessages(state.state, reflection.text, state.expertAction, settings);
  return row('sr', demonstration, state, messages, {
    source: reflection.generatorLabel,
    branch_ids: compared.map(branchKey),
    reflection_id: reflectionKey(reflection, compared),
  });
}

/** The IWM alternatives and, where the run says so, the expert's triple; never a rejected branch, never an SR one. */
function isIwmBranch({ status, purpose }: Branch, { branching: { iwm } }: EarlyExperienceRun): boolean {
  if (!iwm.enabled || status !== 'accepted') return false;
  return purpose === 'iwm' || (purpose === 'expert' && iwm.expertTriple);
}

export function makesIwmRow(branch: Branch, run: EarlyExperienceRun): boolean {
  return isIwmBranch(branch, run) && iwmTarget(branch, run.export) !== null;
}

function row(
  kind: SftRow['meta']['kind'],
  { episode }: Demonstration,
  state: ExpertState,
  messages: PlainMessage[],
  meta: Partial<SftRow['meta']>,
): SftRow {
  const { action = state.expertAction, branch_ids = [], reflection_id = null } = meta;
  const target = messages.at(-1)?.content;
  const content = [episode.episodeId, state.stepIndex, branch_ids, reflection_id, action, target];
  return {
    id: `${kind}-${identityHash(kind, ...content)}`,
    messages,
    meta: {
      kind,
      environment: episode.environmentId,
      task_id: episode.taskId,
      task_type: episode.taskType,
      split: episode.split,
      episode_id: episode.episodeId,
      step: state.stepIndex,
      action,
      source: '',
      valid: true,
      branch_ids,
      reflection_id,
      completion_tokens: null,
      ...meta,
    },
  };
}
