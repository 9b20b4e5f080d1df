import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { RowOrder, updatesFor } from '#core/training/order.ts';

const groups = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1, maxLength: 30 });

it('shows each row once a pass, groups side by side, in an order of the seed alone', () => {
  fc.assert(
    fc.property(
      groups,
      fc.integer({ min: 0, max: 1000 }),
      fc.integer({ min: 1, max: 7 }),
      (names, seed, size) => {
        const order = new RowOrder(names, seed);
        const updates = names.length * 2;
        const seen = Array.from({ length: updates }, (_, update) => order.batch(update, size)).flat();
        for (let pass = 0; pass + 1 <= Math.floor(seen.length / names.length); pass += 1) {
          const rows = seen.slice(pass * names.length, (pass + 1) * names.length);
          expect(rows.toSorted((a, b) => a - b)).toEqual(names.map((_, index) => index));
          const runs = rows.map((row) => names[row]).filter((name, at, all) => name !== all[at - 1]);
          expect(new Set(runs).size).toBe(runs.length);
        }
        // Asked for out of order, as after a resume, it is the same.
        expect(new RowOrder(names, seed).batch(updates - 1, size)).toEqual(order.batch(updates - 1, size));
      },
    ),
  );
});

it('cuts no group that fits into a batch, and no batch is empty or larger than two', () => {
  fc.assert(
    fc.property(
      groups,
      fc.integer({ min: 0, max: 1000 }),
      fc.integer({ min: 1, max: 12 }),
      (names, seed, size) => {
        const order = new RowOrder(names, seed);
        const sizes = new Map<string, number>();
        for (const name of names) sizes.set(name, (sizes.get(name) ?? 0) + 1);
        const updates = names.length * 2;
        let rows = 0;
        for (let update = 0; update < updates; update += 1) {
          const batch = order.batch(update, size);
          expect(batch.length).toBeGreaterThan(0);
          expect(batch.length).toBeLessThanOrEqual(2 * size);
          rows += batch.length;
          // A small data set comes several times in one batch; each time as a whole.
          for (const name of new Set(batch.map((at) => names[at] ?? ''))) {
            const whole = sizes.get(name) ?? 0;
            const here = batch.filter((at) => names[at] === name).length;
            if (whole <= size) expect(here % whole).toBe(0);
          }
        }
        expect(Math.abs(rows - updates * size)).toBeLessThan(size);
      },
    ),
  );
});

it('shows each row as often as there are passes, in as many updates as they need, none of them empty', () => {
  fc.assert(
    fc.property(
      groups,
      fc.integer({ min: 0, max: 1000 }),
      fc.integer({ min: 1, max: 12 }),
      fc.integer({ min: 1, max: 3 }),
      (names, seed, size, passes) => {
        const order = new RowOrder(names, seed);
        const updates = updatesFor(names.length, { passes, size });
        const batches = Array.from({ length: updates }, (_, update) => order.batch(update, size, passes));
        const every = names.flatMap((_, row) => Array.from({ length: passes }, () => row));
        expect(batches.flat().toSorted((a, b) => a - b)).toEqual(every);
        for (const batch of batches) {
          expect(batch.length).toBeGreaterThan(0);
          expect(batch.length).toBeLessThanOrEqual(2 * size);
        }
        // Where the rows come out even, it is what it would be without an end.
        if ((names.length * passes) % size !== 0) return;
        expect(batches).toEqual(batches.map((_, update) => order.batch(update, size)));
      },
    ),
    { numRuns: 1000 },
  );
});
