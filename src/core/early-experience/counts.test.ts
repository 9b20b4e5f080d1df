/** What a run counts is what it committed: a failure in the middle, and the same work done again, change no number. */
import { expect, test } from 'vitest';
import { AppError } from '#shared/errors.ts';
import { earlyExperienceRunSchema } from '#shared/schema/run.ts';
import type { GenerateRequest } from '#core/llm/port.ts';
import type { LabOptions, Writer } from '#test/helpers/methods.ts';
import { fakeModel, openLab, soundReflection, withSessions } from '#test/helpers/methods.ts';

/** Every second proposal is unreadable; the first text about a state is dropped, for it leaks the label. */
const answers: Writer = (request, sample) => {
  const offered = request.messages.at(-1)?.content.split('Admissible actions:\n')[1]?.split('\n') ?? [];
  if (offered.length === 0)
    return request.seed % 2 === 0 ? 'The expert action is the best of these.' : soundReflection(request);
  return sample % 2 === 0
    ? 'nothing readable'
    : `<action>${offered[sample % offered.length]?.slice(2) ?? ''}</action>`;
};

function crash(code: 'MODEL_CRASHED' | 'ENVIRONMENT_CRASHED'): AppError {
  return new AppError({ code, message: 'It ended.' });
}

async function counted(options: LabOptions, extra: object = {}) {
  const lab = openLab(options);
  try {
    const run = earlyExperienceRunSchema.parse({
      kind: 'early-experience',
      environment: { id: 'household-small', tasks: 1 },
      policy: { model: 'fake' },
      branching: { iwm: { sampler: 'policy', k: 4 } },
      reflection: { attempts: 2 },
      limits: { maxPromptTokens: 100_000 },
      ...extra,
    });
    const job = await lab.run('early-experience', run);
    expect(job.error).toBeNull();
    const { branching, reflection } = job.result as Record<string, Record<string, unknown>>;
    const [set] = lab.services.store.datasets.list({ cursor: null, limit: 1 }).items;
    // What was executed twice was really executed.
    return { branching: { ...branching, realSteps: null }, reflection, manifest: set?.manifest };
  } finally {
    await lab.close();
  }
}

/** Breaks at the first request for which this holds, and answers it the next time. */
function breaksOnce(when: (request: GenerateRequest) => boolean): Writer {
  let broken = false;
  return (request, sample) => {
    if (!broken && sample === 0 && when(request)) {
      broken = true;
      throw crash('MODEL_CRASHED');
    }
    return answers(request, sample);
  };
}

/** What the engine stores of equal runs is equal but for ids and times. */
const plain = ({ manifest, ...rest }: Awaited<ReturnType<typeof counted>>) => ({
  ...rest,
  branches: manifest?.branches,
  filters: manifest?.filters,
});

test('a model that breaks between the proposals of a state changes no count', async () => {
  const undisturbed = await counted({ model: fakeModel(answers) });
  // The request for SR alternatives, after that for IWM was answered: K and the extra ones.
  let asked = 0;
  const broken = breaksOnce(({ n }) => n === 5 && (asked += 1) === 3);
  expect(plain(await counted({ model: fakeModel(broken) }))).toEqual(plain(undisturbed));
  expect(asked).toBe(3);
  expect(undisturbed.branching).toMatchObject({
    droppedProposals: { unreadable: expect.any(Number) as number },
  });
}, 30_000);

test('an environment that breaks in the middle of a state leaves no more prompts too long than states', async () => {
  const model = fakeModel(answers);
  const generate = model.generate.bind(model);
  model.generate = (request, options) =>
    request.n > 1
      ? Promise.reject(new AppError({ code: 'MODEL_CONTEXT_FULL', message: 'It does not fit.' }))
      : generate(request, options);
  let restores = 0;
  const wrap = withSessions((session) => ({
    restore(snapshot) {
      restores += 1;
      return restores === 6 ? Promise.reject(crash('ENVIRONMENT_CRASHED')) : session.restore(snapshot);
    },
  }));
  const { manifest } = await counted({ model, wrap }, { reflection: { enabled: false } });
  expect(restores).toBeGreaterThan(6);
  expect(manifest?.states).toBeGreaterThan(0);
  expect(manifest?.branches.promptTooLong).toBe(manifest?.states);
}, 30_000);

test('a model that breaks at the second attempt at a reflection changes no count', async () => {
  const undisturbed = await counted({ model: fakeModel(answers) });
  const leaked = new Set<string>();
  const again = breaksOnce(({ n, messages, seed }) => {
    const prompt = messages.at(-1)?.content ?? '';
    if (n > 1) return false;
    if (leaked.has(prompt)) return true;
    if (seed % 2 === 0) leaked.add(prompt);
    return false;
  });
  expect(plain(await counted({ model: fakeModel(again) }))).toEqual(plain(undisturbed));
  expect(leaked.size).toBeGreaterThan(0);
  expect(undisturbed.reflection?.['attempts']).toBeGreaterThan(Number(undisturbed.reflection?.['texts']));
}, 30_000);
