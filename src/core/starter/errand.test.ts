import { describe, expect, it } from 'vitest';
import { canContain, lamps, rooms, sentences } from '#core/environments/household/content.ts';
import { createHouseholdProvider } from '#core/environments/household/provider.ts';
import { drawOf } from './draw.ts';
import { isDone } from './errand.ts';
import type { ErrandKind } from './errand.ts';
import { playErrand } from './errand-play.ts';
import { commandOf, contentsOf, isAdmissible } from './errand-world.ts';
import {
  codas,
  fixtures,
  madeUpWord,
  notMadeUp,
  onsets,
  placeNouns,
  settings,
  thingNouns,
  vowels,
} from './words.ts';

const kinds: ErrandKind[] = ['find', 'bring', 'treat', 'gather', 'show'];
const options = { thought: true, slips: 0.1 };
const played = Array.from({ length: 400 }, (_, index) => {
  const kind = kinds[index % kinds.length] ?? 'find';
  return playErrand(drawOf('errand test', index), { ...options, kind });
});

describe('the agent of other worlds', () => {
  it('does every errand, in few steps', () => {
    for (const { world, errand, trajectory } of played) {
      expect(isDone(world, errand), errand.text).toBe(true);
      expect(trajectory.state.history.length).toBeLessThan(40);
    }
  });

  it('does nothing that the world refuses, apart from the slips that are not learned', () => {
    for (const { world, trajectory } of played) {
      const { history, observation } = trajectory.state;
      history.forEach((turn, index) => {
        const shown = (history[index + 1]?.observation ?? observation).text;
        expect(shown === world.dialect.done.refused, turn.action).toBe(trajectory.learned[index] === false);
      });
    }
    expect(played.some(({ trajectory }) => trajectory.learned.includes(false))).toBe(true);
  });

  it('names nothing before it was shown', () => {
    for (const { trajectory } of played) {
      let shown = '';
      trajectory.state.history.forEach((turn, index) => {
        shown += `${turn.observation.text}\n`;
        if (trajectory.learned[index] !== true) return;
        const names = turn.action.match(/\b[a-z]+ \d+\b/gu) ?? [];
        for (const name of names) expect(`${trajectory.state.actionGuide}${shown}`).toContain(name);
      });
    }
  });

  it('never looks for a thing where it has looked', () => {
    for (const index of Array.from({ length: 200 }).keys()) {
      const looked = new Set<number>();
      playErrand(drawOf('search test', index), {
        thought: false,
        slips: 0,
        until: ({ agent, next }) => {
          if (next?.searches === true && next.action.kind === 'go') {
            expect(agent.looked.has(next.action.place)).toBe(false);
            looked.add(next.action.place);
          }
          return false;
        },
      });
      expect(looked.size).toBeLessThanOrEqual(9);
    }
  });

  it('finds late what is hidden from it, and nothing that was shown becomes untrue', () => {
    let searches = { plain: 0, late: 0 };
    for (let index = 0; index < 200; index += 1) {
      for (const late of [false, true]) {
        const game = { thought: false, slips: 0, kind: 'find', late } as const;
        let count = 0;
        // What each place was last seen to hold; in this errand nothing is ever put anywhere.
        const seen = new Map<number, string>();
        const { world, errand } = playErrand(drawOf('late test', index), {
          ...game,
          until: ({ world: now, agent, next }) => {
            if (next?.searches === true) count += 1;
            for (const place of agent.looked) {
              const contents = JSON.stringify(contentsOf(now, place));
              expect(contents).toBe(seen.get(place) ?? contents);
              seen.set(place, contents);
            }
            return false;
          },
        });
        expect(isDone(world, errand)).toBe(true);
        searches = late
          ? { ...searches, late: searches.late + count }
          : { ...searches, plain: searches.plain + count };
      }
    }
    expect(searches.late).toBeGreaterThan(1.5 * searches.plain);
  });

  it('is the same for the same seed, and stops where it is told', () => {
    const first = playErrand(drawOf('again'), options);
    expect(playErrand(drawOf('again'), options).trajectory).toEqual(first.trajectory);
    const cut = playErrand(drawOf('again'), {
      ...options,
      until: (now) => now.trajectory.learned.length >= 2,
    });
    expect(cut.trajectory.state.history).toEqual(first.trajectory.state.history.slice(0, 2));
    const next = cut.next?.action ?? { kind: 'look' };
    expect(isAdmissible(cut.world, next)).toBe(true);
    expect(commandOf(cut.world, next)).not.toBe('');
  });
});

describe('other worlds', () => {
  const household = new Set(
    [
      ...Object.keys(canContain),
      ...Object.values(canContain).flatMap((objects) => [...objects]),
      ...lamps,
      ...Object.values(rooms).flatMap((room) => [
        ...Object.keys(room.known),
        ...Object.keys(room.heldOut),
        ...room.small,
        ...room.smallExtras,
        ...room.smallHeldOut,
        ...room.smallHeldOutExtras,
        ...room.objects,
      ]),
      ...Object.keys(rooms).flatMap((name) => name.split(' ')),
    ].map((word) => word.toLowerCase()),
  );

  it('share no noun with the household', () => {
    const nouns = [...placeNouns, ...thingNouns, ...fixtures, ...settings];
    expect(nouns.filter((noun) => household.has(noun))).toEqual([]);
    expect(new Set(nouns).size).toBe(nouns.length);
    const any = (parts: readonly string[]): string => `(?:${parts.join('|')})`;
    const spelt = new RegExp(`^(?:${any(onsets)}${any(vowels)}){2,3}${any(codas)}$`, 'u');
    expect(spelt.test(madeUpWord(drawOf('made up')))).toBe(true);
    expect([...household].filter((word) => spelt.test(word) && !notMadeUp.has(word))).toEqual([]);
  });

  it('make up no word that the household has', () => {
    const parts = ['s', 'a', 'f', 'e', '', 's', 'a', 'f', 'i', ''];
    const spelling = {
      integer: () => 2,
      pick<Item>(): Item {
        return parts.shift() as Item;
      },
    };
    expect(madeUpWord(spelling)).toBe('safi');
  });

  it('have no task sentence and no command of the household', () => {
    const patterns = Object.values(sentences)
      .flat()
      .map((sentence) => new RegExp(`^${sentence.replaceAll(/\{\w+\}/gu, '[a-z ]+')}$`, 'u'));
    const commands =
      /^(?:go to|open|close|take .* from|move .* to|clean|heat|cool|use|slice|examine|look$|inventory)\b/u;
    for (const { errand, trajectory } of played) {
      expect(patterns.filter((pattern) => pattern.test(errand.text))).toEqual([]);
      for (const { action } of trajectory.state.history) expect(action).not.toMatch(commands);
    }
    const known = createHouseholdProvider('household-small').listTasks({ split: 'train', limit: 200 }).tasks;
    for (const { instruction } of known) {
      expect(patterns.some((pattern) => pattern.test(instruction.replace(/\.$/u, '')))).toBe(true);
    }
  });
});
