/** A device's gradients against the processor's, each small model in a process of its own. */
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { z } from 'zod';
import { trainableArchitectures } from '#shared/worker/trainer.ts';

const child = path.resolve(import.meta.dirname, '../../test/slow/gradients.child.ts');
const reportSchema = z.object({ device: z.string(), gaps: z.record(z.string(), z.number()) });

export const gradientTolerance = 2e-3;

/** [architecture, mode, form]. The composed forms (Metal's) emit the same operations for every architecture: one is enough. */
export const gradientCases = trainableArchitectures.flatMap((architecture) =>
  (['full', 'lora'] as const).flatMap((mode) =>
    (architecture === 'llama' ? (['direct', 'composed'] as const) : (['direct'] as const)).map(
      (form) => [architecture, mode, form] as const,
    ),
  ),
);

export type GradientReport =
  | {
      /** Its name, as the driver says it. */
      device: string;
      /** ‖device − processor‖ / ‖processor‖ of each tensor's gradient. */
      gaps: Record<string, number>;
    }
  | {
      /** Why there is no such device here. */
      missing: string;
    };

/** @throws Error with what the child said, when it fails for another reason than a missing device */
export function compareGradients(
  device: 'cpu' | 'cuda' | 'vulkan',
  words: (typeof gradientCases)[number],
  environment: Readonly<Record<string, string>> = {},
): GradientReport {
  const { status, signal, stdout, stderr, error } = spawnSync(process.execPath, [child, device, ...words], {
    encoding: 'utf8',
    env: { ...process.env, ...environment },
    timeout: 120_000,
  });
  if (error !== undefined) throw error;
  if (status === 3) return { missing: stderr.trim().split('\n').at(-1) ?? '' };
  if (status !== 0)
    throw new Error(
      `${words.join(', ')} on ${device} ended with ${String(status ?? signal)}:\n${stderr.slice(-2000)}`,
    );
  return reportSchema.parse(JSON.parse(stdout));
}
