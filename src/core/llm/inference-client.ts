/** The inference process as typed calls. Starts it on first use, hears its status, parses what comes back. */
import { AppError } from '#shared/errors.ts';
import { inferenceMethods } from '#shared/worker/inference.ts';
import type {
  InferenceMethod,
  InferenceParams,
  InferenceResult,
  WorkerStatus,
} from '#shared/worker/inference.ts';
import { Supervisor } from '#core/process/index.ts';
import type { WorkerState } from '#core/process/index.ts';
import type { Clock, Logger, ProcessSpawner } from '#core/ports.ts';

export interface InferenceClientOptions {
  spawner: ProcessSpawner;
  clock: Clock;
  log: Logger;
  maxThreads: number;
  gpu: 'auto' | 'off';
  onChange(): void;
}

export class InferenceClient {
  readonly #supervisor: Supervisor;
  #status: WorkerStatus = { device: '', loaded: [] };

  constructor(options: InferenceClientOptions) {
    this.#supervisor = new Supervisor({
      spawn: () =>
        options.spawner.spawn('inference', {
          env: { DAYDREAM_MAX_THREADS: String(options.maxThreads), DAYDREAM_GPU: options.gpu },
        }),
      clock: options.clock,
      log: options.log,
      onState: () => {
        if (this.#supervisor.state !== 'ready') this.#status = { ...this.#status, loaded: [] };
        options.onChange();
      },
      onEvent: (message) => {
        if (message.kind === 'log') {
          options.log[message.level]({ source: 'llama.cpp' }, message.text.trim());
          return;
        }
        this.#status = message.status;
        options.onChange();
      },
    });
  }

  get state(): WorkerState {
    return this.#supervisor.state;
  }

  get restarts(): number {
    return this.#supervisor.restarts;
  }

  get status(): WorkerStatus {
    return this.#status;
  }

  /** Of the process that runs or is about to: what an older one had loaded is gone. */
  async generation(): Promise<number> {
    await this.#supervisor.start();
    return this.#supervisor.generation;
  }

  get pid(): number | undefined {
    return this.#supervisor.pid;
  }

  async call<Method extends InferenceMethod>(
    method: Method,
    params: InferenceParams<Method>,
    signal?: AbortSignal,
  ): Promise<InferenceResult<Method>> {
    const value = await this.#supervisor.call(method, params, signal);
    const parsed = inferenceMethods[method].result.safeParse(value);
    if (parsed.success) return parsed.data as InferenceResult<Method>;
    throw new AppError({
      code: 'MODEL_CRASHED',
      message: `The inference process gave an unreadable answer to ${method}; what it was doing is lost, what was stored is kept. If it happens again with this model, compare the checksum of its file.`,
      cause: parsed.error,
    });
  }

  dispose(): Promise<void> {
    return this.#supervisor.dispose();
  }
}
