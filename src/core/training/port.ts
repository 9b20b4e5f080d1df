/** What trains: a model opened in the trainer process. One at a time; closing gives all memory back. */
import type {
  OpenParams,
  ScoreRow,
  StepMetrics,
  StopNorm,
  TrainRow,
  TrainerParams,
  TrainerResult,
} from '#shared/worker/trainer.ts';

export interface TrainerCall {
  signal?: AbortSignal | undefined;
}

export interface Trainer {
  /** The name of a device that this machine has. @throws TRAINER_UNAVAILABLE with the reason why it has not */
  probe(params: TrainerParams<'probe'>): Promise<TrainerResult<'probe'>>;
  /** @throws MODEL_UNSUPPORTED, MODEL_OUT_OF_MEMORY, TRAINER_UNAVAILABLE */
  open(params: OpenParams, call?: TrainerCall): Promise<TrainerResult<'open'>>;
  /** Log-probabilities of each row's targets; `adapters: false` is the reference policy of a LoRA model. */
  score(
    rows: readonly ScoreRow[],
    options: { adapters: boolean },
    call?: TrainerCall,
  ): Promise<Float32Array[]>;
  /** @throws TRAINING_DIVERGED before any weight changes */
  step(
    rows: readonly TrainRow[],
    options: {
      objective: TrainerParams<'step'>['objective'];
      learningRate: number;
      stopNorm: StopNorm | null;
    },
    call?: TrainerCall,
  ): Promise<StepMetrics>;
  save(params: TrainerParams<'save'>): Promise<TrainerResult<'save'>>;
  restore(params: TrainerParams<'restore'>): Promise<TrainerResult<'restore'>>;
  /** The trainable tensors. */
  weights(): Promise<TrainerResult<'weights'>>;
  /** The adapted matrices with their adapters added. */
  merged(): Promise<TrainerResult<'merged'>>;
  close(): Promise<void>;
}
