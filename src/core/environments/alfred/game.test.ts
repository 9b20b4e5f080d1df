import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { displayNames } from './names.ts';
import { loadGame } from './game.ts';
import { readProblem } from './problem-reader.ts';

const folder = new URL('../../../../test/golden/alfworld/', import.meta.url);
const transcriptSchema = z.object({
  name: z.string(),
  taskText: z.string(),
  problem: z.string(),
  actions: z.array(z.string()),
  states: z.array(
    z.object({ text: z.string(), admissible: z.array(z.string()), won: z.boolean(), reward: z.number() }),
  ),
});
const transcripts = readdirSync(folder)
  .filter((file) => file.endsWith('.json'))
  .map((file) => transcriptSchema.parse(JSON.parse(readFileSync(new URL(file, folder), 'utf8'))));

describe('the rules, against transcripts that the original engine wrote', () => {
  it('has transcripts of every verb', () => {
    const verbs = new Set(
      transcripts.flatMap(({ states }) =>
        states.flatMap(({ admissible }) => admissible.map((text) => text.split(' ')[0])),
      ),
    );
    expect([...verbs].toSorted()).toEqual([
      'clean',
      'close',
      'cool',
      'examine',
      'go',
      'heat',
      'help',
      'inventory',
      'look',
      'move',
      'open',
      'slice',
      'take',
      'use',
    ]);
    expect(transcripts.length).toBeGreaterThanOrEqual(20);
  });

  it.each(transcripts)('says the same, step by step: $name', ({ problem, taskText, actions, states }) => {
    const game = loadGame(readProblem(problem), taskText);
    const state = game.start();
    const shown = (text: string) => ({
      text,
      admissible: game.commands(state).map((command) => command.text),
      won: game.won(state),
    });
    const ours = [shown(game.intro(state))];
    for (const action of actions) {
      const command = game.commands(state).find(({ text }) => text === action.trim());
      ours.push(shown(command === undefined ? 'Nothing happens.' : game.apply(state, command)));
    }
    expect(ours).toEqual(states.map(({ text, admissible, won }) => ({ text, admissible, won })));
  });
});

describe('display names', () => {
  it('count down in the order of the ids', () => {
    const names = displayNames(['cabinet_bar_b', 'cabinet_bar_a', 'cabinet_bar_c', 'mug_bar_a']);
    expect(names.get('cabinet_bar_a')).toBe('cabinet 3');
    expect(names.get('cabinet_bar_c')).toBe('cabinet 1');
    expect(names.get('mug_bar_a')).toBe('mug 1');
  });

  it('append basin to whatever contains it, also twice', () => {
    const names = displayNames(['sink_bar_1_bar_sinkbasin', 'sinkbasin_bar_2']);
    expect(names.get('sink_bar_1_bar_sinkbasin')).toBe('sinkbasin 1');
    expect(names.get('sinkbasin_bar_2')).toBe('sinkbasinbasin 1');
  });

  it('leave ids without a separator as they are, with the original trailing space', () => {
    expect(displayNames(['agent1', 'shelf_minus_2']).get('agent1')).toBe('agent1 ');
    expect(displayNames(['shelf_minus_2']).get('shelf_minus_2')).toBe('shelf-2 ');
  });
});
