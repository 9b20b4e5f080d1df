/**
 * Tells a job's log that the inference process died under it and that it is back. What is done again is told by whoever does it.
 * Only words: the restart is the supervisor's business, the retry the loop's.
 */
import type { JobContext } from '#core/jobs/port.ts';
import type { ModelService } from '#core/llm/port.ts';

/** Does `work` and tells meanwhile. */
export async function tellingOfDeaths<Result>(
  { emit, signal }: Pick<JobContext<unknown>, 'emit' | 'signal'>,
  models: Pick<ModelService, 'status' | 'onStatus'>,
  work: () => Promise<Result>,
): Promise<Result> {
  let last = models.status();
  let down = false;
  const stop = models.onStatus((status) => {
    const staysDown = status.state === 'failed' && last.state !== 'failed';
    const died = staysDown || status.restarts > last.restarts;
    last = status;
    // The log of a job that is being stopped is closed, or about to be.
    if (signal.aborted) return;
    if (died) {
      down = true;
      const next = staysDown
        ? 'It has died too often in a row and stays down until it is asked again.'
        : 'It is being started again.';
      emit({
        type: 'inference-died',
        level: 'warn',
        message: `The inference process died. ${next} Everything stored is kept; only what it was computing is lost.`,
        data: { restarts: status.restarts },
      });
    } else if (down && status.state === 'ready') {
      down = false;
      emit({
        type: 'inference-restarted',
        message: 'The inference process was started again. What was cut off is done again.',
        data: { restarts: status.restarts },
      });
    }
  });
  try {
    return await work();
  } finally {
    stop();
  }
}
