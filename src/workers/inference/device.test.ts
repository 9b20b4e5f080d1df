import { expect, it } from 'vitest';
import { deviceOf, hasGpu } from './device.ts';

it('calls a Vulkan driver without a GPU behind it the processor', () => {
  expect(deviceOf({ gpu: 'vulkan', supportsGpuOffloading: false })).toBe('cpu');
  expect(deviceOf({ gpu: false, supportsGpuOffloading: false })).toBe('cpu');
  expect(deviceOf({ gpu: 'vulkan', supportsGpuOffloading: true })).toBe('vulkan');
  expect(hasGpu({ gpu: 'cuda', supportsGpuOffloading: true })).toBe(true);
});
