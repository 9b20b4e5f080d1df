/** What job kinds and handlers are built from. Made once in `createApp`, passed by hand. */
import type { EnvironmentRegistry } from '#core/environments/port.ts';
import type { JobEngine } from '#core/jobs/port.ts';
import type { ModelService } from '#core/llm/port.ts';
import type { Clock, Logger } from '#core/ports.ts';
import type { Store } from '#core/store/port.ts';
import type { Trainer } from '#core/training/port.ts';

export interface CoreServices {
  readonly store: Store;
  readonly jobs: JobEngine;
  readonly environments: EnvironmentRegistry;
  readonly models: ModelService;
  /** A trainer process of one's own: the caller closes it. */
  readonly newTrainer: () => Trainer;
  readonly clock: Clock;
  readonly log: Logger;
  readonly dataFolder: string;
  /** Of the application, for manifests. */
  readonly version: string;
}
