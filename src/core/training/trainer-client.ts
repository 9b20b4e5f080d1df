/** The trainer process as typed calls: started on first use, gone after `close`, so that its memory goes back to the system. */
import { AppError } from '#shared/errors.ts';
import { trainerMethods } from '#shared/worker/trainer.ts';
import type {
  ScoreRow,
  StopNorm,
  TrainRow,
  TrainerMethod,
  TrainerParams,
  TrainerResult,
} from '#shared/worker/trainer.ts';
import { Supervisor } from '#core/process/index.ts';
import type { Clock, Logger, ProcessSpawner } from '#core/ports.ts';
import type { Trainer, TrainerCall } from '#core/training/port.ts';

export class TrainerClient implements Trainer {
  readonly #supervisor: Supervisor;
  #generation = 0;

  constructor(options: { spawner: ProcessSpawner; clock: Clock; log: Logger }) {
    this.#supervisor = new Supervisor({
      spawn: () => options.spawner.spawn('trainer', {}),
      clock: options.clock,
      log: options.log,
      onState: () => undefined,
      onEvent: (message) => {
        if (message.kind === 'log') options.log[message.level]({ source: 'trainer' }, message.text.trim());
      },
      // A step of a large model is one call that answers no ping only if the process is stuck: it computes on other threads.
      hangMs: 120_000,
    });
  }

  get pid(): number | undefined {
    return this.#supervisor.pid;
  }

  probe(params: TrainerParams<'probe'>): Promise<TrainerResult<'probe'>> {
    return this.#call('probe', params);
  }

  async open(params: TrainerParams<'open'>, call?: TrainerCall): Promise<TrainerResult<'open'>> {
    const opened = await this.#call('open', params, call);
    this.#generation = this.#supervisor.generation;
    return opened;
  }

  score(
    rows: readonly ScoreRow[],
    options: { adapters: boolean },
    call?: TrainerCall,
  ): Promise<Float32Array[]> {
    return this.#call('score', { rows: [...rows], ...options }, call);
  }

  step(
    rows: readonly TrainRow[],
    options: {
      objective: TrainerParams<'step'>['objective'];
      learningRate: number;
      stopNorm: StopNorm | null;
    },
    call?: TrainerCall,
  ): Promise<TrainerResult<'step'>> {
    return this.#call('step', { rows: [...rows], ...options }, call);
  }

  save(params: TrainerParams<'save'>): Promise<TrainerResult<'save'>> {
    return this.#call('save', params);
  }

  restore(params: TrainerParams<'restore'>): Promise<TrainerResult<'restore'>> {
    return this.#call('restore', params);
  }

  weights(): Promise<TrainerResult<'weights'>> {
    return this.#call('weights', {});
  }

  merged(): Promise<TrainerResult<'merged'>> {
    return this.#call('merged', {});
  }

  async close(): Promise<void> {
    await this.#supervisor.dispose();
  }

  async #call<Method extends TrainerMethod>(
    method: Method,
    params: TrainerParams<Method>,
    call?: TrainerCall,
  ): Promise<TrainerResult<Method>> {
    let value: unknown;
    try {
      value = await this.#supervisor.call(method, params, call?.signal);
    } catch (error) {
      // The supervisor speaks of a model's process; which one it was, only its client knows.
      if (!(error instanceof AppError) || error.code !== 'MODEL_CRASHED') throw error;
      throw crashed(error);
    }
    if (method !== 'open' && method !== 'probe' && this.#supervisor.generation !== this.#generation) {
      throw crashed();
    }
    const parsed = trainerMethods[method].result.safeParse(value);
    if (parsed.success) return parsed.data as TrainerResult<Method>;
    throw crashed(parsed.error);
  }
}

function crashed(cause?: unknown): AppError {
  return new AppError({
    code: 'TRAINER_CRASHED',
    message:
      'The trainer process died. The last checkpoint is kept and the training goes on from it. ' +
      'If this repeats, use a smaller batch, shorter blocks or a lower rank: running out of memory looks like this.',
    ...(cause === undefined ? {} : { cause }),
  });
}
