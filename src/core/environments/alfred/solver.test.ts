import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { catalogueOf } from '../household/catalogue.ts';
import { taskTypes } from '../household/content.ts';
import { problemOf } from '../household/task.ts';
import { applyAction } from './actions.ts';
import { loadGame } from './game.ts';
import type { AlfredGame } from './game.ts';
import { agentLocation, heldObject } from './state.ts';
import type { State } from './state.ts';
import { solve } from './solver.ts';

const catalogue = catalogueOf('household-small');
const games = taskTypes.flatMap((type) =>
  catalogue
    .filter((entry) => entry.type === type)
    .slice(0, 4)
    .map((entry) => loadGame(problemOf('household-small', entry), '')),
);

function randomly(game: AlfredGame, choices: readonly number[]): State {
  const state = game.start();
  for (const choice of choices) {
    const commands = game.commands(state);
    const command = commands[choice % commands.length];
    if (command !== undefined) game.apply(state, command);
  }
  return state;
}

/** The true shortest plan by breadth-first search over all commands that change something. */
function shortest(game: AlfredGame, from: State, limit: number): number {
  let layer = [from];
  const seen = new Set([from.join()]);
  for (let depth = 0; depth <= limit; depth += 1) {
    if (layer.some((state) => game.won(state))) return depth;
    const next: State[] = [];
    for (const state of layer) {
      for (const { action } of game.commands(state)) {
        const copy = state.slice();
        applyAction(game.world, game.layout, copy, action);
        const key = copy.join();
        if (seen.has(key)) continue;
        seen.add(key);
        next.push(copy);
      }
    }
    layer = next;
  }
  return Number.POSITIVE_INFINITY;
}

describe('the expert', () => {
  it('gets closer with every step, from any state that random play can reach', () => {
    fc.assert(
      fc.property(
        fc.nat({ max: games.length - 1 }),
        fc.array(fc.nat({ max: 1000 }), { maxLength: 25 }),
        (which, choices) => {
          const game = games[which];
          if (game === undefined) return;
          const state = randomly(game, choices);
          let left = solve(game, state)?.length ?? Number.NaN;
          expect(left).toBeLessThanOrEqual(16);
          while (left > 0) {
            const action = solve(game, state)?.[0];
            if (action === undefined) throw new Error('the expert gave up');
            applyAction(game.world, game.layout, state, action);
            const now = solve(game, state)?.length ?? Number.NaN;
            expect(now).toBeLessThan(left);
            left = now;
          }
          expect(game.won(state)).toBe(true);
        },
      ),
      { numRuns: 150 },
    );
  });

  it('needs no step more than a full search from the start, for single objects', () => {
    for (const [index, game] of games.entries()) {
      const plan = solve(game, game.start());
      const limit = plan?.length ?? 0;
      if (limit > 5) continue;
      expect(shortest(game, game.start(), limit), `game ${String(index)}`).toBe(limit);
    }
  });

  it('is at most one step longer than a full search from random states', () => {
    let checked = 0;
    fc.assert(
      fc.property(
        fc.nat({ max: games.length - 1 }),
        fc.array(fc.nat({ max: 1000 }), { maxLength: 12 }),
        (which, choices) => {
          const game = games[which];
          if (game === undefined) return;
          const state = randomly(game, choices);
          const limit = solve(game, state)?.length ?? 0;
          if (limit > 4) return;
          checked += 1;
          expect(limit - shortest(game, state, limit)).toBeLessThanOrEqual(1);
        },
      ),
      { numRuns: 60 },
    );
    expect(checked).toBeGreaterThan(5);
  });

  it('leaves the state that it is asked about alone', () => {
    for (const game of games) {
      const state = game.start();
      const before = state.slice();
      solve(game, state);
      expect(state).toEqual(before);
      expect(heldObject(state)).toBe(-1);
      expect(agentLocation(state)).toBe(game.world.start.at);
    }
  });
});
