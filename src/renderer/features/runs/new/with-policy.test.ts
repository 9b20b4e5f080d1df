import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { withPolicy } from './use-draft.ts';

const preset = '# quick\nkind: rollout\npolicy:\n  model: starter\n  adapters:\n    - path: /old.gguf\n';

it('puts a trained adapter on its base into a preset, and keeps the rest of its text', () => {
  const text = withPolicy(preset, 'base-1', '/new.gguf') ?? '';
  expect(parse(text)).toEqual({
    kind: 'rollout',
    policy: { model: 'base-1', adapters: [{ path: '/new.gguf', scale: 1 }] },
  });
  expect(text).toContain('# quick');
});

it('acts on another split where one is asked for', () => {
  expect(parse(withPolicy(preset, 'base-1', '/new.gguf', 'development') ?? '')).toMatchObject({
    environment: { split: 'development' },
  });
});

it('a whole model takes the adapters of the preset away; without a model nothing changes', () => {
  expect(parse(withPolicy(preset, 'new-1', null) ?? '')).toEqual({
    kind: 'rollout',
    policy: { model: 'new-1' },
  });
  expect(withPolicy(preset, null, null)).toBe(preset);
});
