import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { RowOrder } from '#core/training/order.ts';

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
