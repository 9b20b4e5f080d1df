/** What was measured of an environment and never changes: a check that runs at each keystroke measures it once. */
import type { EnvironmentProvider } from '#core/environments/port.ts';

/** Answers kept for one environment. */
const mostAnswers = 64;

/**
 * A memory that lasts as long as the provider. `key` names all that the answer depends on beside it; a measurement that fails or
 * is stopped leaves nothing. A question that comes while another is measured measures for itself: each has its own signal.
 */
export function createMemory<Answer>(): (
  provider: EnvironmentProvider,
  key: string,
  measure: () => Promise<Answer>,
) => Promise<Answer> {
  const answers = new WeakMap<EnvironmentProvider, Map<string, { answer: Answer }>>();
  return async (provider, key, measure) => {
    const known = answers.get(provider) ?? new Map<string, { answer: Answer }>();
    answers.set(provider, known);
    const kept = known.get(key) ?? { answer: await measure() };
    known.set(key, kept);
    const [oldest] = known.keys();
    if (known.size > mostAnswers && oldest !== undefined) known.delete(oldest);
    return kept.answer;
  };
}
