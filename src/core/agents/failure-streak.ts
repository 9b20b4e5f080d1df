/** A model or a world that is gone fails all that comes next: a stage must not count the rest of its work as done without it. */
import { AppError } from '#shared/errors.ts';
import { sentence } from '#shared/sentence.ts';

const mostInARow = 5;

export class FailureStreak {
  #length = 0;

  succeeded(): void {
    this.#length = 0;
  }

  /** @throws AppError `error`, with what to do, when it is the fifth failure in a row */
  failed(error: AppError): void {
    this.#length += 1;
    if (this.#length < mostInARow) return;
    throw new AppError({
      code: error.code,
      message:
        `${sentence(error.message)} That is the ${String(mostInARow)}th failure in a row, so the run stops here. ` +
        'All that is finished is kept: mend the cause and resume the run, and it goes on with what is missing.',
      cause: error,
    });
  }
}
