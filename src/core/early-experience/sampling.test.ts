import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalAction, distinctActions, matchAdmissible, randomOf } from '#core/agents/index.ts';
import {
  exclusion,
  proposedAlternatives,
  unaskedAlternatives,
  uniformAlternatives,
} from '#core/early-experience/sampling.ts';

/** Actions that often mean the same in another spelling. */
const action = fc
  .tuple(fc.constantFrom('go to', 'open', 'take', 'look'), fc.integer({ min: 0, max: 5 }), fc.boolean())
  .map(([verb, number, loud]) =>
    loud ? `  ${verb.toUpperCase()}  ${String(number)}` : `${verb} ${String(number)}`,
  );
const actions = fc.array(action, { maxLength: 20 });
const rules = fc.record({
  k: fc.integer({ min: 1, max: 8 }),
  unique: fc.boolean(),
  refill: fc.constantFrom('constant-k' as const, 'inadmissible-only' as const),
  keepInadmissible: fc.boolean(),
});

test('no alternative is ever the expert’s action, in any spelling', () => {
  fc.assert(
    fc.property(actions, actions, action, rules, fc.nat(), (proposals, admissible, expert, rule, seed) => {
      const sets = [
        uniformAlternatives(admissible, expert, rule.k, randomOf(seed)),
        proposedAlternatives(proposals, admissible, expert, rule, randomOf(seed)),
        proposedAlternatives(proposals, null, expert, rule, randomOf(seed)),
      ];
      for (const { alternatives } of sets) {
        for (const alternative of alternatives) {
          expect(canonicalAction(alternative.action)).not.toBe(canonicalAction(expert));
          expect(canonicalAction(alternative.action)).not.toBe('');
        }
        expect(alternatives.length).toBeLessThanOrEqual(rule.k);
      }
    }),
    { numRuns: 500 },
  );
});

test('K is constant wherever the state admits K, and what is missing is counted', () => {
  fc.assert(
    fc.property(
      actions,
      actions,
      action,
      fc.integer({ min: 1, max: 8 }),
      fc.nat(),
      (proposals, admissible, expert, k, seed) => {
        const rule = { k, unique: true, refill: 'constant-k' as const, keepInadmissible: false };
        const possible = distinctActions(admissible, [expert]).length;
        const proposed = proposedAlternatives(proposals, admissible, expert, rule, randomOf(seed));
        const uniform = uniformAlternatives(admissible, expert, k, randomOf(seed));
        for (const set of [proposed, uniform]) {
          expect(set.alternatives).toHaveLength(Math.min(k, possible));
          expect(set.missing).toBe(k - Math.min(k, possible));
          expect(new Set(set.alternatives.map((one) => canonicalAction(one.action))).size).toBe(
            set.alternatives.length,
          );
        }
      },
    ),
    { numRuns: 500 },
  );
});

test('an inadmissible proposal is replaced for SR and kept for IWM', () => {
  const admissible = ['a', 'b', 'c', 'd'];
  const rule = { k: 2, unique: true, refill: 'inadmissible-only' as const };
  const sr = proposedAlternatives(
    ['fly', 'b'],
    admissible,
    'a',
    { ...rule, keepInadmissible: false },
    randomOf(1),
  );
  expect(sr.alternatives.map(({ source }) => source)).toEqual(['policy', 'refill']);
  expect(sr.dropped.inadmissible).toBe(1);
  for (const one of sr.alternatives) expect(matchAdmissible(one.action, admissible)).not.toBeNull();
  const iwm = proposedAlternatives(
    ['fly', 'b'],
    admissible,
    'a',
    { ...rule, keepInadmissible: true },
    randomOf(1),
  );
  expect(iwm.alternatives.map((one) => one.action)).toEqual(['fly', 'b']);
});

test('an inadmissible proposal is replaced once, however often it is proposed', () => {
  const rule = { k: 3, unique: true, refill: 'inadmissible-only' as const, keepInadmissible: false };
  const set = proposedAlternatives(['fly', 'FLY ', '', ''], ['a', 'b', 'c', 'd'], 'a', rule, randomOf(1));
  expect(set).toMatchObject({ missing: 1, dropped: { inadmissible: 1, duplicate: 1, unreadable: 2 } });
  expect(set.alternatives.map(({ source }) => source)).toEqual(['refill', 'refill']);
});

test('under the paper’s rule, saying a thing twice changes nothing', () => {
  fc.assert(
    fc.property(
      actions,
      actions,
      action,
      fc.integer({ min: 1, max: 8 }),
      fc.boolean(),
      fc.nat(),
      (proposals, admissible, expert, k, keepInadmissible, seed) => {
        const rule = { k, unique: true, refill: 'inadmissible-only' as const, keepInadmissible };
        const meaning = (text: string): string =>
          canonicalAction(matchAdmissible(text, admissible) ?? text.trim());
        const once = proposals.filter(
          (text, index) => proposals.findIndex((other) => meaning(other) === meaning(text)) === index,
        );
        const actionsOf = (texts: readonly string[]) =>
          proposedAlternatives(texts, admissible, expert, rule, randomOf(seed)).alternatives.map(
            (one) => one.action,
          );
        expect(actionsOf(proposals)).toEqual(actionsOf(once));
      },
    ),
    { numRuns: 500 },
  );
});

test('the paper’s rule leaves duplicates and expert proposals unreplaced', () => {
  const rule = { k: 3, unique: true, refill: 'inadmissible-only' as const, keepInadmissible: false };
  const set = proposedAlternatives(['A', 'b', 'B '], ['a', 'b', 'c', 'd'], 'a', rule, randomOf(1));
  expect(set).toMatchObject({ missing: 2, dropped: { expert: 1, duplicate: 1, inadmissible: 0 } });
  expect(set.alternatives.map((one) => one.action)).toEqual(['b']);
});

test('an excluded action is never drawn, proposed or refilled; a star leaves out all that begin so', () => {
  const excludes = exclusion([' HELP', 'go to *']);
  expect(['help', 'Help', 'help me', 'go to desk 1', 'go', 'go  to x'].map(excludes)).toEqual([
    true,
    true,
    false,
    true,
    false,
    true,
  ]);
  const admissible = ['look', 'help', 'go to desk 1', 'take mug 1', 'open box 1'].filter(
    (action) => !excludes(action),
  );
  const rules = { k: 3, unique: true, refill: 'constant-k' as const, keepInadmissible: true, excludes };
  const set = proposedAlternatives(['help', 'Go to desk 1', 'fly'], admissible, 'look', rules, randomOf(1));
  expect(set).toMatchObject({ missing: 0, dropped: { excluded: 2, inadmissible: 0 } });
  expect(set.alternatives.map((one) => one.action).toSorted()).toEqual(['fly', 'open box 1', 'take mug 1']);
  expect(exclusion([])('help')).toBe(false);
});

test('where the policy was not asked, alternatives are uniform and say so; the paper’s rule has none', () => {
  const draw = (refill: 'constant-k' | 'inadmissible-only') =>
    unaskedAlternatives(['a', 'b', 'c'], 'a', { k: 3, refill }, randomOf(1));
  const set = draw('constant-k');
  expect(set.alternatives.map(({ action }) => action).toSorted()).toEqual(['b', 'c']);
  expect(new Set(set.alternatives.map(({ source }) => source))).toEqual(new Set(['unasked']));
  expect(set.missing).toBe(1);
  expect(draw('inadmissible-only')).toMatchObject({ alternatives: [], missing: 3 });
});

test('the same names draw the same actions, other names draw others', () => {
  const admissible = Array.from({ length: 30 }, (_, index) => `go to ${String(index)}`);
  const draw = (...names: unknown[]) =>
    uniformAlternatives(admissible, 'go to 0', 8, randomOf(...names)).alternatives.map((one) => one.action);
  expect(draw(1, 'e', 3, 'iwm')).toEqual(draw(1, 'e', 3, 'iwm'));
  expect(draw(1, 'e', 3, 'iwm')).not.toEqual(draw(1, 'e', 3, 'sr'));
  expect(draw(1, 'e', 3, 'iwm')).not.toEqual(draw(2, 'e', 3, 'iwm'));
});

test('the uniform sampler draws every action, and every pair, about equally often', () => {
  const admissible = ['expert', 'a', 'b', 'c', 'd', 'e'];
  const counts = new Map<string, number>();
  const rounds = 6000;
  for (let round = 0; round < rounds; round += 1) {
    const { alternatives } = uniformAlternatives(admissible, 'expert', 2, randomOf('round', round));
    const pair = alternatives.map((one) => one.action).join('');
    counts.set(pair, (counts.get(pair) ?? 0) + 1);
  }
  // 20 ordered pairs; chi-square with 19 degrees of freedom stays below 43.8 with probability 0.999.
  const expected = rounds / 20;
  const chiSquare = [...counts.values()].reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
  expect(counts.size).toBe(20);
  expect(chiSquare).toBeLessThan(43.8);
});

test('used and dropped proposals are all that were drawn', () => {
  fc.assert(
    fc.property(actions, actions, action, rules, fc.nat(), (proposals, admissible, expert, rule, seed) => {
      const { alternatives, dropped } = proposedAlternatives(
        proposals,
        admissible,
        expert,
        rule,
        randomOf(seed),
      );
      const used = alternatives.filter(({ source }) => source === 'policy').length;
      const counted = Object.values(dropped).reduce((sum, count) => sum + count, used);
      expect(counted).toBe(proposals.length);
    }),
    { numRuns: 500 },
  );
});
