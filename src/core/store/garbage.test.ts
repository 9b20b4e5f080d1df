import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openConnection } from '#core/store/driver.ts';
import { textColumns } from '#core/store/garbage.ts';
import { openStore } from '#core/store/index.ts';
import type { Store } from '#core/store/port.ts';
import type { EpisodeId } from '#shared/ids.ts';
import {
  fixedClock,
  makeBranch,
  makeEpisode,
  makeReflection,
  makeStep,
  silentLog,
  temporaryFolder,
} from '#test/helpers/store-records.ts';

let temporary: ReturnType<typeof temporaryFolder>;
let file: string;
beforeEach(() => {
  temporary = temporaryFolder();
  file = `${temporary.folder}/daydream.sqlite`;
});
afterEach(() => {
  temporary.remove();
});

function open(): Store {
  return openStore({ file, clock: fixedClock(), log: silentLog });
}

/** Few enough that episodes, branches and reflections share them; too long to lie in the row. */
const longText = (index: number): string => `text ${String(index)} `.repeat(300);

function storedTexts(): Set<string> {
  const connection = openConnection(file, { readOnly: true });
  try {
    const rows = connection.all('SELECT content FROM blobs');
    return new Set(rows.map((row) => Buffer.from(row['content'] as Uint8Array).toString('utf8')));
  } finally {
    connection.close();
  }
}

it('knows every column that may hold a blob', () => {
  open().close();
  const connection = openConnection(file, { readOnly: true });
  const found = connection.all(
    `SELECT tables.name AS name, columns.name AS column FROM sqlite_schema AS tables, pragma_table_info(tables.name) AS columns
     WHERE tables.type = 'table' AND columns.type = 'ANY'`,
  );
  connection.close();
  const known = Object.entries(textColumns).flatMap(([table, columns]) =>
    columns.map((column) => `${table}.${column}`),
  );
  expect(found.map(({ name, column }) => `${String(name)}.${String(column)}`).toSorted()).toEqual(
    known.toSorted(),
  );
});

it('removes what an attempt without steps leaves behind, at the next opening and not before', () => {
  const first = open();
  first.episodes.begin(makeEpisode(1, { initialObservation: longText(0) }));
  first.episodes.begin(makeEpisode(1, { initialObservation: longText(1) }));
  first.episodes.appendSteps([makeStep('episode-1', 0, { observation: longText(2) })]);
  // A reader may hold a row of the attempt before.
  expect(storedTexts()).toEqual(new Set([longText(0), longText(1), longText(2)]));
  first.episodes.begin(makeEpisode(1, { initialObservation: longText(3) }));
  first.close();
  open().close();
  // An attempt with a step keeps all its texts.
  expect(storedTexts()).toEqual(new Set([longText(1), longText(2), longText(3)]));
});

describe('whatever is written, started again and opened', () => {
  /** What must be readable: the texts of each record, by the record's name. */
  class Model {
    readonly attempts = new Map<number, { first: string; steps: string[]; finished: boolean }>();
    /** Texts of attempts that were begun again after a step. */
    readonly setAside: string[] = [];
    readonly branches = new Map<string, string>();
    readonly reflections = new Map<string, string>();
    restarted = false;

    /** The blobs that some row refers to. */
    needed(): Set<string> {
      const attempts = [...this.attempts.values()].flatMap(({ first, steps }) => [first, ...steps]);
      return new Set([
        ...attempts,
        ...this.setAside,
        ...this.branches.values(),
        ...this.reflections.values(),
      ]);
    }
  }

  const command = fc.record({
    what: fc.constantFrom('begin', 'steps', 'whole', 'branch', 'reflection', 'other host', 'reopen'),
    episode: fc.nat(2),
    text: fc.nat(5),
  });

  it(
    'every row reads back, and once an episode was started again no other blob stays',
    { timeout: 120_000 },
    () => {
      fc.assert(
        fc.property(fc.array(command, { minLength: 5, maxLength: 40, size: 'max' }), (commands) => {
          temporary.remove();
          temporary = temporaryFolder();
          file = `${temporary.folder}/daydream.sqlite`;
          const model = new Model();
          let store = open();
          try {
            for (const { what, episode, text } of commands) {
              if (what === 'reopen') {
                store.close();
                store = open();
              } else if (what === 'other host') {
                // Between two transactions of this one: it collects, writes a row, and is gone.
                const other = open();
                write(other, model, 'branch', episode, text);
                other.close();
              } else write(store, model, what, episode, text);
              verify(store, model);
            }
            const { restarted } = model;
            store.close();
            store = open();
            verify(store, model);
            if (restarted) expect(storedTexts()).toEqual(model.needed());
          } finally {
            store.close();
          }
        }),
        { numRuns: 15 },
      );
    },
  );

  function write(store: Store, model: Model, what: string, episode: number, text: number): void {
    const id = `episode-${String(episode)}`;
    const content = longText(text);
    const known = model.attempts.get(episode);
    const again = (): void => {
      if (known === undefined) return;
      if (known.steps.length > 0) model.setAside.push(known.first, ...known.steps);
      else model.restarted = true;
    };
    if (what === 'begin' && known?.finished !== true) {
      again();
      store.episodes.begin(makeEpisode(episode, { initialObservation: content }));
      model.attempts.set(episode, { first: content, steps: [], finished: false });
    } else if (what === 'whole' && known?.finished !== true) {
      again();
      store.episodes.insertWhole(makeEpisode(episode, { initialObservation: content, status: 'finished' }), [
        makeStep(id, 0, { observation: content, thought: content }),
      ]);
      model.attempts.set(episode, { first: content, steps: [content], finished: true });
    } else if (known === undefined) {
      return;
    } else if (what === 'steps') {
      store.episodes.appendSteps([makeStep(id, known.steps.length, { observation: content })]);
      known.steps.push(content);
    } else if (what === 'branch') {
      const branch = makeBranch(id, 0, model.branches.size, { observation: content });
      store.branches.insert([branch]);
      model.branches.set(branch.branchId, content);
    } else if (what === 'reflection') {
      const index = model.reflections.size;
      const reflection = makeReflection(id, index, { stepIndex: 0, prompt: content });
      store.reflections.insert([reflection]);
      model.reflections.set(reflection.reflectionId, content);
    }
  }

  function verify(store: Store, model: Model): void {
    for (const [episode, { first, steps }] of model.attempts) {
      const id = `episode-${String(episode)}` as EpisodeId;
      expect(store.episodes.get(id)?.initialObservation).toBe(first);
      expect(store.episodes.steps(id).map(({ observation }) => observation)).toEqual(steps);
      for (const { branchId, observation } of store.branches.ofEpisode(id)) {
        expect(observation).toBe(model.branches.get(branchId));
      }
      for (const { reflectionId, prompt } of store.reflections.ofEpisode(id)) {
        expect(prompt).toBe(model.reflections.get(reflectionId));
      }
    }
  }
});
