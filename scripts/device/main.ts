/**
 * What a training device gives: `npm run check:device -- cuda|vulkan|cpu`. Gradients of every architecture and mode against the
 * processor's (≤ 2e-3), then `bench train-flat` there: tokens per second against PyTorch, on the same GPU for CUDA, else on the processor.
 * Exit 0: all of it held; 3: there is no such device here.
 */
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { compareGradients, gradientCases, gradientTolerance } from './gradients.ts';

function isDevice(word: string | undefined): word is 'cuda' | 'vulkan' | 'cpu' {
  return word === 'cuda' || word === 'vulkan' || word === 'cpu';
}

/** Whether every case held; null without such a device. */
function gradientsHold(device: 'cuda' | 'vulkan' | 'cpu'): boolean | null {
  let holds = true;
  for (const words of gradientCases) {
    const report = compareGradients(device, words);
    if ('missing' in report) {
      console.log(`Nothing was measured: ${report.missing}`);
      return null;
    }
    const [tensor, gap] = Object.entries(report.gaps).reduce((a, b) =>
      b[1] > a[1] || Number.isNaN(b[1]) ? b : a,
    );
    const isClose = gap <= gradientTolerance;
    holds &&= isClose;
    console.log(
      `${isClose ? 'ok  ' : 'FAIL'}  ${words.join(', ')} on ${report.device}: worst gradient ${gap.toExponential(1)} (${tensor}, bar ${gradientTolerance.toExponential(0)})`,
    );
  }
  return holds;
}

const [device, ...rest] = process.argv.slice(2);
if (!isDevice(device)) {
  console.error('npm run check:device -- cuda|vulkan|cpu [options of npm run bench, such as --quick]');
  process.exitCode = 2;
} else {
  const holds = gradientsHold(device);
  if (holds === null) process.exitCode = 3;
  else {
    const bench = path.resolve(import.meta.dirname, '../../bench/main.ts');
    const { status } = spawnSync(process.execPath, [bench, 'train-flat', '--device', device, ...rest], {
      stdio: 'inherit',
    });
    process.exitCode = holds && status === 0 ? 0 : 1;
  }
}
