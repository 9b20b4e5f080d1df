import type { Llama } from 'node-llama-cpp';

/**
 * What really computes. The library's Vulkan build loads wherever a Vulkan driver is installed, also one that only imitates a GPU in
 * software; llama.cpp takes no such device, and then everything runs on the processor.
 */
export function hasGpu(llama: Pick<Llama, 'gpu' | 'supportsGpuOffloading'>): boolean {
  return llama.gpu !== false && llama.supportsGpuOffloading;
}

/** `cpu`, or the kind of the GPU. */
export function deviceOf(llama: Pick<Llama, 'gpu' | 'supportsGpuOffloading'>): string {
  return llama.gpu !== false && hasGpu(llama) ? llama.gpu : 'cpu';
}
