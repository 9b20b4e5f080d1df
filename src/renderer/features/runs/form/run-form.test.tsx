import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useState } from 'react';
import { describe, expect, it, vi } from 'vitest';
import type { RunProblem } from '#shared/schema/run.ts';
import { renderUi } from '#test/helpers/render-ui.tsx';
import type * as fieldControl from '../../../ui/form/field-control.tsx';
import { RunForm } from './run-form.tsx';
import { readDraft } from './yaml-draft.ts';

// The pickers ask the host for its models and worlds; here there is none.
vi.mock('../../../rpc/client.ts', () => ({
  orpc: {
    models: { list: { queryOptions: () => ({ queryKey: ['models'], queryFn: () => [] }) } },
    environments: { list: { queryOptions: () => ({ queryKey: ['environments'], queryFn: () => [] }) } },
  },
}));

const drawn: string[] = [];
vi.mock('../../../ui/form/field-control.tsx', async (original) => {
  const { FieldControl } = await original<typeof fieldControl>();
  const Counted: typeof FieldControl = (props) => {
    drawn.push(props.field.path.join('.'));
    return FieldControl(props);
  };
  return { FieldControl: Counted };
});

const start = `kind: early-experience
seed: 1 # fixed
environment:
  id: household-small
policy:
  model: abc
`;

let text = start;
function Harness({ initial, problems = [] }: { initial: string; problems?: RunProblem[] }) {
  const [yaml, setYaml] = useState(initial);
  text = yaml;
  return (
    <QueryClientProvider client={new QueryClient()}>
      <RunForm
        kind="early-experience"
        draft={readDraft(yaml)}
        yaml={yaml}
        problems={problems}
        onChange={setYaml}
      />
    </QueryClientProvider>
  );
}

function field(path: string): HTMLElement {
  const element = document.getElementById(`field-${path}`);
  if (element === null) throw new Error(`no field ${path}`);
  return element;
}

describe('the form over the YAML', () => {
  it('writes what is typed into the text and keeps its comments', async () => {
    renderUi(<Harness initial={start} />);
    const seed = field('seed');
    await userEvent.clear(seed);
    await userEvent.type(seed, '42');
    expect(text).toContain('seed: 42 # fixed');
  });

  it('draws the field that is typed in again, and no other', async () => {
    renderUi(<Harness initial={start} />);
    await userEvent.click(field('seed'));
    drawn.length = 0;
    await userEvent.keyboard('2');
    expect(text).toContain('seed: 12');
    expect([...new Set(drawn)]).toEqual(['seed']);
  });

  it('shows the default as a placeholder, and an emptied field takes its key away', async () => {
    renderUi(<Harness initial={`${start}branching:\n  iwm:\n    k: 5\n`} />);
    const k = field('branching.iwm.k');
    expect(k).toHaveProperty('value', '5');
    await userEvent.clear(k);
    expect(text).toContain('k: 5');
    await userEvent.tab();
    expect(text).not.toContain('branching');
    expect(k.getAttribute('placeholder')).toBe('8');
  });

  it('drops a switch that goes back to its default', async () => {
    renderUi(<Harness initial={start} />);
    await userEvent.click(field('policy.thought'));
    expect(text).toContain('thought: false');
    await userEvent.click(field('policy.thought'));
    expect(text).not.toContain('thought');
  });

  it('puts a problem beside its field', () => {
    const problem: RunProblem = {
      path: 'policy.model',
      message: 'No such model.',
      severity: 'error',
      line: 6,
    };
    renderUi(<Harness initial={start} problems={[problem]} />);
    expect(screen.getByText(/No such model/)).toBeTruthy();
  });

  it('folds advanced fields, and unfolds those that are set', () => {
    renderUi(<Harness initial={`${start}  sampling:\n    topK: 40\n`} />);
    expect(field('policy.sampling.topK').closest('details')?.open).toBe(true);
    expect(field('branching.sr.extra').closest('details')?.open).toBe(false);
  });
});
