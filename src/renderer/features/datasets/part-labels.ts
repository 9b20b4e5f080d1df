import type { DatasetPart } from '#shared/schema/dataset.ts';

export const partLabels: Record<DatasetPart, { label: string; what: string }> = {
  expert_sft: { label: 'Expert', what: 'state → expert action (imitation)' },
  iwm_sft: { label: 'World model', what: 'state + action → next state (IWM)' },
  reflection_sft: { label: 'Reflection', what: 'state → reasoning + expert action (SR)' },
};
