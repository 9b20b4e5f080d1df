/** What this machine can train on: asked of the trainer itself, one process a kind, once. */
import { toAppError } from '#shared/errors.ts';
import { trainingDeviceSchema } from '#shared/schema/training.ts';
import type { TrainingDevice, TrainingDeviceFacts } from '#shared/schema/training.ts';
import type { Trainer } from '#core/training/port.ts';

type Asked = Pick<Trainer, 'probe' | 'close'>;

export class TrainingDevices {
  readonly #newTrainer: () => Asked;
  readonly #known = new Map<TrainingDevice, Promise<TrainingDeviceFacts>>();

  constructor(newTrainer: () => Asked) {
    this.#newTrainer = newTrainer;
  }

  /** In the order of the schema; one after the other, since each question is a process. */
  async all(): Promise<TrainingDeviceFacts[]> {
    const facts: TrainingDeviceFacts[] = [];
    for (const device of trainingDeviceSchema.options) facts.push(await this.of(device));
    return facts;
  }

  of(device: TrainingDevice): Promise<TrainingDeviceFacts> {
    const known = this.#known.get(device) ?? this.#ask(device);
    this.#known.set(device, known);
    return known;
  }

  async #ask(device: TrainingDevice): Promise<TrainingDeviceFacts> {
    const absent = absentOn(process.platform, device);
    if (absent !== null) return { device, name: null, reason: absent };
    const trainer = this.#newTrainer();
    try {
      const { name } = await trainer.probe({ device });
      return { device, name, reason: null };
    } catch (error) {
      const { code, message } = toAppError(error);
      // A process that died or was starved says nothing of the machine: the next question asks anew.
      if (code !== 'TRAINER_UNAVAILABLE') this.#known.delete(device);
      return { device, name: null, reason: message };
    } finally {
      await trainer.close();
    }
  }
}

/** What no driver can change. */
function absentOn(platform: string, device: TrainingDevice): string | null {
  if (device === 'metal' && platform !== 'darwin') return 'Metal is there on Apple’s systems only.';
  if ((device === 'cuda' || device === 'vulkan') && platform === 'darwin')
    return 'On Apple’s systems the graphics chip is used through Metal.';
  return null;
}
