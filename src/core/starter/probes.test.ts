import { describe, expect, it } from 'vitest';
import { createHouseholdProvider } from '#core/environments/household/provider.ts';
import { createDocumentSource, defaultDocuments } from './documents.ts';
import { vocabularyOf } from './generate.ts';
import { buildProbes, runProbes, skills } from './probes.ts';
import type { Probe, ScoreRows, Skill } from './probes.ts';

const household = createHouseholdProvider('household-small');
const source = createDocumentSource({
  ...defaultDocuments,
  seed: 1,
  stream: 'train',
  play: [{ provider: household, share: 1 }],
});
const tokenizer = await vocabularyOf(source, { documents: 300, vocabularySize: 1024 });
const options = { tokenizer, household, seed: 1, perSkill: 40 };
const probes = await buildProbes(options);
const signal = AbortSignal.any([]);

const ofSkill = (skill: Skill): Probe[] => probes.filter((probe) => probe.skill === skill);
const answersOf = ({ choices }: Probe): string[] => choices.map((ids) => tokenizer.decode(ids));
const promptOf = ({ context }: Probe): string => tokenizer.decode(context, { special: true });

/** A scorer that knows how likely each answer of each probe is, in order. */
function knowing(likelihood: (probe: Probe, choice: number) => number): ScoreRows {
  const answers = probes.flatMap((probe) => probe.choices.map((_, choice) => ({ probe, choice })));
  let at = 0;
  return (rows) =>
    Promise.resolve(
      rows.map(({ tokens, targets }) => {
        const { probe, choice } = answers[at] ?? { probe: probes[0]!, choice: 0 };
        at += 1;
        const target = [...targets].map((position) => tokens[position]);
        expect(target).toEqual(probe.choices[choice]);
        expect([...tokens.subarray(0, targets[0])]).toEqual(probe.context);
        return Float32Array.from(targets, () => likelihood(probe, choice) / targets.length);
      }),
    );
}

describe('the probes', () => {
  it('ask for each skill as often as told, the same each time', async () => {
    for (const skill of skills) expect(ofSkill(skill)).toHaveLength(40);
    expect(await buildProbes(options)).toEqual(probes);
    for (const { choices, right } of probes) {
      expect(right.length).toBeGreaterThan(0);
      expect(right.length).toBeLessThan(choices.length);
      expect(new Set(choices.map((ids) => ids.join())).size).toBe(choices.length);
    }
  });

  it('copy: the right name stands in the last observation, the wrong ones are elsewhere or not wanted', () => {
    for (const probe of ofSkill('copy')) {
      const last = promptOf(probe).split('<|user|>').at(-1) ?? '';
      const names = answersOf(probe).map(
        (answer) => /[a-z]+ \d+/u.exec(answer.replace(/^<action>\w+ (?:out of )?/u, ''))?.[0],
      );
      for (const index of probe.right) expect(last).toContain(names[index]);
    }
  });

  it('looked: the right place was never gone to, the wrong ones all were', () => {
    for (const probe of ofSkill('looked')) {
      answersOf(probe).forEach((answer, index) => {
        expect(promptOf(probe).includes(answer), answer).toBe(!probe.right.includes(index));
      });
    }
  });

  it('recall: the right place is one that the errand or an earlier observation named', () => {
    for (const probe of ofSkill('recall')) {
      for (const index of probe.right) {
        const place = /([a-z]+) \d+<\/action>/u.exec(answersOf(probe)[index] ?? '')?.[1] ?? '?';
        expect(promptOf(probe)).toContain(place);
      }
    }
  });

  it('effect: one outcome is right, and it is what the world really answered', async () => {
    const all = [...ofSkill('effect'), ...ofSkill('effect-household')];
    expect(all.every(({ right }) => right.length === 1 && right[0] === 0)).toBe(true);
    expect(all.every((probe) => answersOf(probe).every((answer) => answer.startsWith('Observation: ')))).toBe(
      true,
    );
    const refused = ofSkill('effect-household').filter(
      (probe) => answersOf(probe)[0] === 'Observation: Nothing happens.',
    );
    expect(refused.length).toBeGreaterThan(2);
    expect(refused.length).toBeLessThan(25);
  });
});

describe('their results', () => {
  it('are 1 for who knows, with Wilson’s interval and the chance of guessing', async () => {
    const score = knowing(({ right }, choice) => (right.includes(choice) ? -1 : -2));
    const results = await runProbes(probes, score, { signal, batch: 7 });
    expect(results.map(({ skill }) => skill)).toEqual([...skills]);
    for (const { n, right, share, low, high, chance } of results) {
      expect({ n, right, share, high }).toEqual({ n: 40, right: 40, share: 1, high: 1 });
      expect(low).toBeCloseTo(0.9124, 3);
      expect(chance).toBeGreaterThan(0.05);
      expect(chance).toBeLessThan(0.5);
    }
  });

  it('are 0 for who finds a wrong answer likelier, as likely, or answers no number', async () => {
    const scorers = [
      knowing(({ right }, choice) => (right.includes(choice) ? -2 : -1)),
      knowing(() => 0),
      knowing(() => Number.NaN),
    ];
    for (const score of scorers) {
      const results = await runProbes(probes, score, { signal });
      expect(results.map(({ right }) => right)).toEqual(skills.map(() => 0));
    }
  });

  it('are near chance for who guesses', async () => {
    const score = knowing(
      ({ context }, choice) => -(((context.length + 1) * (choice + 3) * 2_654_435_761) % 1009),
    );
    for (const { share, chance } of await runProbes(probes, score, { signal })) {
      expect(Math.abs(share - chance)).toBeLessThan(0.25);
    }
  });
});
