/** Training on Vulkan against training on the processor, on a Vulkan device in software (Debian's mesa-vulkan-drivers). */
import { expect, it } from 'vitest';
import { compareGradients, gradientCases, gradientTolerance } from '../../scripts/device/gradients.ts';

/** ggml takes a device in software only when told to; llvmpipe's half floats and threads are no good here. */
const software = { GGML_VK_VISIBLE_DEVICES: '0', GGML_VK_DISABLE_F16: '1', LP_NUM_THREADS: '1' };

it.for(gradientCases)('%s, %s, %s operations: the gradients of the processor', (words, { skip }) => {
  const report = compareGradients('vulkan', words, software);
  if ('missing' in report)
    return skip(`no Vulkan device here (Debian: apt-get install mesa-vulkan-drivers). ${report.missing}`);
  expect(Object.keys(report.gaps).length).toBeGreaterThan(10);
  for (const [tensor, gap] of Object.entries(report.gaps))
    expect(gap, `${tensor} on ${report.device}`).toBeLessThan(gradientTolerance);
});
