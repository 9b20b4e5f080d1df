/** Progress on stderr: a bar with rate and ETA on a terminal, plain lines elsewhere (log files, CI). */
import { SingleBar } from 'cli-progress';
import { pausingWords } from '#shared/schema/job.ts';
import type { JobStatus, Progress } from '#shared/schema/job.ts';
import { number, roughly } from './output.ts';

/** Plain lines come at each new phase, when its first piece is done, and at most this often in between. */
const plainLineEveryMs = 5_000;

/** Stages differ too much to be counted like episodes: the one that runs is named by its number. */
function doneWords({ done, total, unit }: Progress): string {
  if (total === null) return `${number(done)} ${unit}`;
  if (unit === 'stages') return `stage ${number(Math.min(done + 1, total))} of ${number(total)}`;
  return `${number(done)}/${number(total)} ${unit}`;
}

/** Done per second since the phase began; null before it can be told. */
class Rate {
  #phase = '';
  #startedAt = 0;
  #startedDone = 0;

  update({ phase, done }: Progress, now: number): number | null {
    if (phase !== this.#phase || done < this.#startedDone) {
      this.#phase = phase;
      this.#startedAt = now;
      this.#startedDone = done;
    }
    const seconds = (now - this.#startedAt) / 1000;
    const gained = done - this.#startedDone;
    return seconds >= 1 && gained > 0 ? gained / seconds : null;
  }
}

export class ProgressView {
  readonly #bar: SingleBar | null;
  readonly #rate = new Rate();
  #shownPhase = '';
  #shownStart = false;
  #shownAt = 0;
  #running = false;

  constructor(options: { quiet?: boolean; stream?: NodeJS.WriteStream } = {}) {
    const stream = options.stream ?? process.stderr;
    const terminal = stream.isTTY && options.quiet !== true;
    this.#bar = terminal
      ? new SingleBar({
          stream,
          // The words must not be called like what cli-progress itself fills in: {eta}, {total}, {value}, {duration}.
          format: '{bar} {percentage} %  {phase}  {done}  {rate}  {left}',
          barsize: 24,
          hideCursor: true,
          clearOnComplete: true,
          fps: 8,
        })
      : null;
  }

  update(job: Pick<JobStatus, 'state' | 'progress'>, now: number = Date.now()): void {
    const progress = job.progress;
    if (progress === null) return;
    const rate = this.#rate.update(progress, now);
    const left = progress.total === null || rate === null ? null : (progress.total - progress.done) / rate;
    const words = {
      phase: job.state === 'pausing' ? `Pausing: ${pausingWords(progress)}` : progress.phase,
      done: doneWords(progress),
      rate: rate === null ? '' : `${rate.toPrecision(3)}/s`,
      left: left === null ? '' : `${roughly(left * 1000)} left`,
    };
    if (this.#bar !== null) this.#showBar(this.#bar, progress, words);
    else this.#showLine(words, progress.done > 0, now);
  }

  /** A line above the bar. */
  say(line: string): void {
    const wasRunning = this.#running;
    if (wasRunning) this.#bar?.stop();
    this.#running = false;
    process.stderr.write(`${line}\n`);
  }

  stop(): void {
    if (this.#running) this.#bar?.stop();
    this.#running = false;
  }

  #showBar(bar: SingleBar, progress: Progress, words: Record<string, string>): void {
    const total = progress.total ?? Math.max(1, progress.done);
    if (!this.#running) {
      bar.start(total, progress.done, words);
      this.#running = true;
    }
    bar.setTotal(total);
    bar.update(progress.done, words);
  }

  #showLine({ phase = '', done, rate, left }: Record<string, string>, begun: boolean, now: number): void {
    const news = phase !== this.#shownPhase || (begun && !this.#shownStart);
    if (!news && now - this.#shownAt < plainLineEveryMs) return;
    this.#shownPhase = phase;
    this.#shownStart = begun;
    this.#shownAt = now;
    process.stderr.write(`${[phase, done, rate, left].filter((word) => word !== '').join('  ')}\n`);
  }
}
