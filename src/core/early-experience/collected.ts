/** Counts of an export while its rows pass: for each file, what could have become a row, and why it did not. Each sum adds up. */
import { z } from 'zod';
import type { JobId } from '#shared/ids.ts';
import { reflectionFlagSchema } from '#shared/schema/branch.ts';
import type { DatasetPart, FilterCount, SftRow } from '#shared/schema/dataset.ts';
import type { Store } from '#core/store/port.ts';
import { DROP_HELP } from '#core/early-experience/filter-rules.ts';
import { TargetTally } from '#core/early-experience/target-tally.ts';
import type { DropReason, Verdict } from '#core/early-experience/verdicts.ts';

/** Why a state has no text, or a branch no row, before any filter looked at it. */
const MISSING_HELP = {
  withoutAlternatives: ['no-alternatives', 'the state has no accepted alternative to compare with'],
  tooLong: ['prompt-too-long', 'the generator’s prompt does not fit its context (limits.maxPromptTokens)'],
  failed: ['failed', 'the model failed there; the events of the run say how'],
} as const;

const missingSchema = z.object({
  withoutAlternatives: z.int().default(0),
  tooLong: z.int().default(0),
  failed: z.int().default(0),
});

export class Collected {
  readonly tasks = new Set<string>();
  readonly targets = new TargetTally();
  /** Characters of the shortest expert row, messages together; 0 before the first. */
  shortestExpert = 0;
  readonly #candidates: Record<DatasetPart, number> = { expert_sft: 0, iwm_sft: 0, reflection_sft: 0 };
  readonly #dropped = new Map<DropReason, number>();
  readonly #flagged = new Map<DropReason, number>();
  readonly #missing: FilterCount[] = [];
  #nothingObserved = 0;

  /** @param reflectionJobId whose result knows the states that got no text */
  constructor(store: Pick<Store, 'jobs'>, reflectionJobId: JobId | null) {
    if (reflectionJobId === null) return;
    const missing = missingSchema.parse(store.jobs.get(reflectionJobId)?.result ?? {});
    for (const [name, [filter, help]] of Object.entries(MISSING_HELP)) {
      const dropped = missing[name as keyof typeof missing];
      this.#candidates.reflection_sft += dropped;
      if (dropped > 0) this.#missing.push({ part: 'reflection_sft', filter, dropped, flagged: null, help });
    }
  }

  /** Expert states: each has one candidate row. */
  get states(): number {
    return this.#candidates.expert_sft;
  }

  episode(taskId: string, decided: readonly Verdict[]): void {
    this.tasks.add(taskId);
    for (const { droppedBy, flags } of decided) {
      this.#candidates.reflection_sft += 1;
      if (droppedBy !== null) add(this.#dropped, droppedBy);
      for (const flag of flags) add(this.#flagged, flag);
    }
  }

  /** @param row null where a branch left nothing to predict */
  candidate(part: DatasetPart, row: SftRow | null): void {
    if (row === null) this.#nothingObserved += 1;
    // Texts are counted by their verdicts: a dropped one never becomes a row.
    if (part !== 'reflection_sft') this.#candidates[part] += 1;
    if (part !== 'expert_sft' || row === null) return;
    const length = row.messages.reduce((sum, { content }) => sum + content.length, 0);
    this.shortestExpert = this.shortestExpert === 0 ? length : Math.min(this.shortestExpert, length);
  }

  candidatesOf(part: DatasetPart): number {
    return this.#candidates[part];
  }

  /** What kept candidates out before the writer saw them. */
  filters(): FilterCount[] {
    const reasons: DropReason[] = [...reflectionFlagSchema.options, 'review'];
    const observed: FilterCount = {
      part: 'iwm_sft',
      filter: 'nothing-observed',
      dropped: this.#nothingObserved,
      flagged: null,
      help: 'the outcome holds no text to predict',
    };
    return [
      ...(observed.dropped > 0 ? [observed] : []),
      ...this.#missing,
      ...reasons.flatMap((filter): FilterCount[] => {
        const dropped = this.#dropped.get(filter) ?? 0;
        const flagged = filter === 'review' ? null : (this.#flagged.get(filter) ?? 0);
        if (dropped === 0 && (flagged ?? 0) === 0) return [];
        return [{ part: 'reflection_sft', filter, dropped, flagged, help: DROP_HELP[filter] }];
      }),
    ];
  }
}

function add<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
