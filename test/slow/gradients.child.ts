/**
 * Child of scripts/device/gradients.ts: `DEVICE ARCHITECTURE MODE FORM`. The gradients of one small model on a device and on the processor, as one line of JSON;
 * exit 3: there is no such device here. A model a process, as in the application, and none is disposed of: docs/log.md says what Mesa's
 * software driver does then.
 */
import { z } from 'zod';
import { AppError } from '#shared/errors.ts';
import { trainableArchitectures } from '#shared/worker/trainer.ts';
import { branches, gradientOfRows, smallModes, smallTrainer } from '#test/helpers/small-trainer.ts';
import { Device } from '#workers/trainer/device.ts';
import { libraryFolder, openLibrary } from '#workers/trainer/library.ts';

const [flavour, architecture, kind, form] = z
  .tuple([
    z.enum(['cpu', 'cuda', 'vulkan']),
    z.enum(trainableArchitectures),
    z.enum(['full', 'lora']),
    z.enum(['direct', 'composed']),
  ])
  .parse(process.argv.slice(2));

async function gradientsOn(device: Device) {
  const mode = smallModes.find((each) => each.kind === kind);
  if (mode === undefined) throw new RangeError(`There is no mode ${kind}.`);
  const rows = branches();
  return gradientOfRows(smallTrainer(device, architecture, mode, true).trainer, rows);
}

try {
  const library = openLibrary(libraryFolder(flavour));
  const device = Device.open(library, flavour === 'cpu' ? 'cpu' : 'gpu', 1, {
    composed: form === 'composed',
  });
  const found = await gradientsOn(device);
  const expected = await gradientsOn(Device.open(library, 'cpu', 1));
  const gaps = Object.entries(expected.gradients).map(([tensor, values]) => {
    const other = found.gradients[tensor] ?? new Float32Array();
    const gap = Math.hypot(...values.map((value, index) => value - (other[index] ?? Number.NaN)));
    return [tensor, gap / Math.hypot(...values)];
  });
  console.log(JSON.stringify({ device: device.info.description, gaps: Object.fromEntries(gaps) }));
} catch (error) {
  if (!(error instanceof AppError) || error.code !== 'TRAINER_UNAVAILABLE') throw error;
  console.error(error.message);
  process.exitCode = 3;
}
