import { expect, it, vi } from 'vitest';
import { AppError } from '#shared/errors.ts';
import type { Trainer } from '#core/training/port.ts';
import { newTrainer } from '#test/helpers/file-trainer.ts';
import { TrainingDevices } from '#core/training/devices.ts';

it('names the processor, and says why a kind of device is not there', async () => {
  const facts = await new TrainingDevices(newTrainer).all();
  expect(facts.map(({ device }) => device)).toEqual(['cpu', 'cuda', 'vulkan', 'metal']);
  for (const { name, reason } of facts) {
    // Exactly one of the two: a device is offered by its name, or it is not offered and the reason is shown.
    expect([name, reason].filter((text) => text !== null && text !== '')).toHaveLength(1);
  }
  expect(facts[0]?.name).not.toBeNull();
  expect(facts[process.platform === 'darwin' ? 1 : 3]?.reason).toContain('Apple');
}, 60_000);

it('asks once, and ends each process that it asked', async () => {
  const close = vi.fn(() => Promise.resolve());
  const probe = vi.fn<Trainer['probe']>(({ device }) =>
    device === 'cpu'
      ? Promise.resolve({ name: 'A chip' })
      : Promise.reject(new AppError({ code: 'TRAINER_UNAVAILABLE', message: 'No driver.' })),
  );
  const devices = new TrainingDevices(() => ({ probe, close }));
  expect(await devices.of('cpu')).toEqual({ device: 'cpu', name: 'A chip', reason: null });
  expect(await devices.of('cpu')).toEqual({ device: 'cpu', name: 'A chip', reason: null });
  expect(probe).toHaveBeenCalledTimes(1);
  expect(close).toHaveBeenCalledTimes(1);
});

it('asks again after a process that died: that says nothing of the machine', async () => {
  const probe = vi
    .fn<Trainer['probe']>()
    .mockRejectedValueOnce(new AppError({ code: 'TRAINER_CRASHED', message: 'The trainer process died.' }))
    .mockResolvedValue({ name: 'A chip' });
  const devices = new TrainingDevices(() => ({ probe, close: () => Promise.resolve() }));
  expect(await devices.of('cpu')).toMatchObject({ name: null, reason: 'The trainer process died.' });
  expect(await devices.of('cpu')).toMatchObject({ name: 'A chip', reason: null });
});
