/** Each detector finds what it should, among it the paper's own printed phrases (spec 1.3), and leaves sound reasoning alone. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ReflectionFlag } from '#shared/schema/branch.ts';
import { reflectionFiltersSchema } from '#shared/schema/run.ts';
import { droppedBy } from '#core/early-experience/filter-rules.ts';
import { detect } from '#core/early-experience/filters.ts';
import type { ReflectionSubject } from '#core/early-experience/subject.ts';

const subject = (text: string, extra: Partial<ReflectionSubject> = {}): ReflectionSubject => ({
  text,
  raw: text,
  expertAction: 'go to fridge 1',
  alternatives: ['go to shelf 1', 'open drawer 2', 'look'],
  admissible: ['go to fridge 1', 'go to shelf 1', 'go to shelf 10', 'open drawer 2', 'look', 'help'],
  known:
    'You are in a kitchen. You see a fridge 1, a shelf 1, a drawer 2, a drawer 1, and a shelf 10. Your task: cool some apple.',
  outcomes: [
    'You arrive at fridge 1. The fridge 1 is closed.',
    'On the shelf 1, you see a vase 3.',
    'Nothing happens.',
  ],
  minWords: 5,
  maxWords: 40,
  cutOff: false,
  ...extra,
});
const flags = (text: string, extra: Partial<ReflectionSubject> = {}): ReflectionFlag[] =>
  detect(subject(text, extra)).map(({ flag }) => flag);

test.each([
  ['label-leak', 'The expert action is to go to the fridge, which fits the goal.'],
  ['label-leak', 'The candidate action should be preferred since it fits the policy.'], // Tau, P1 B.4
  ['label-leak', 'Everything considered, the expert chooses well, so the fridge it should be.'],
  ['label-leak', 'The action is: {"name": "find_user_id"} because we would need the user.'], // Tau, P1 B.4
  ['label-leak', 'Looking at it, the correct action is to walk to the fridge for cooling.'],
  ['numbering', 'Alternative 2 would only open a drawer, which would not cool anything.'],
  ['numbering', 'Option B would not help with cooling, so I should go to the fridge.'],
  ['numbering', 'The second option would waste a step, so I should go to the fridge.'],
  ['numbering', '1. Go to shelf 1: this would not cool anything.\n2. The fridge would.'],
  ['numbering', 'What else? 2) open drawer 2 would not cool it.\n1) “go to shelf 1” would not either.'],
  ['numbering', '**1.** Going on.\n2. **go to shelf 1** would cost a step.'],
  ['numbering', 'A. I could open drawer 2, but it would not cool it.\nB. The fridge would.'],
  ['numbering', 'I could (1) open drawer 2, or (2) go to fridge 1, and only the latter would cool it.'],
  ['numbering', '1. It would be of no use to open drawer 2 now.\n2. To go to fridge 1 would cool it.'],
  ['numbering', 'Considering action 3, it would be a waste of a step.'],
  ['scaffold', 'Of the alternative actions listed, all would do less for the goal.'], // Tau, P1 B.4
  ['scaffold', 'Important: Consider all constraints before I should decide anything.'], // TravelPlanner, P1 B.7
  ['scaffold', 'Given the expected outcome, going to the fridge should be right.'],
  ['scaffold', 'The resulting state would be closer to the goal than the other ones.'],
  ['scaffold', 'As instructed, I would think about the fridge and the shelf first.'],
  ['outcome-narration', 'Going to the fridge is right. It has produced a valid user ID outcome.'], // Tau, P1 B.4
  ['outcome-narration', 'Click[item] wins because the product matches what is asked for.'], // WebShop, P1 B.2
  ['outcome-narration', 'Other actions fail to bring us any nearer to the apple.'], // WebShop, P1 B.2
  ['outcome-narration', 'I need something cold. I now see that the fridge is closed here.'],
  ['outcome-narration', 'I need something cold. I have just opened the fridge and it is full.'],
  ['outcome-narration', 'The shelf is no use: when looking there, nothing happened at all.'],
  ['outcome-narration', 'The shelf 1 would only offer a vase 3, so the fridge it should be.'],
  [
    'scaffold',
    'You are in a kitchen. You see a fridge 1, a shelf 1, a drawer 2, a drawer 1, and a shelf 10.',
  ],
  [
    'scaffold',
    'The fridge should cool it.\nWhat it would lead to (you cannot know this yet):\nA cold apple.',
  ],
  ['scaffold', 'Task: cool some apple, so I would go there.'],
  ['doubled', 'The apple should be cold, so the fridge. The apple should be cold, so the fridge.'],
  ['contradiction', 'The apple may be on a shelf, therefore I will go to shelf 1 now.'],
  ['contradiction', 'The drawer could hold it; I should open drawer 2 instead of anything else.'],
  ['contradiction', 'It is cold enough already, so I will not go to fridge 1 yet.'],
  ['contradiction', 'I could go to shelf 1'],
  ['contradiction', 'I try to go to countertop 4 now'],
  ['contradiction', 'I could go to fridge 1, but I walk to the shelf 1.'],
  ['contradiction', 'It may be cold in there. Going to the shelf makes the most sense.'],
  ['contradiction', 'Let me open the drawer first, and see what is in it.'],
  ['contradiction', 'I need an apple that may be in the fridge. I will be moving to shelf 1.'],
  ['contradiction', 'It may not be in the fridge at all. I am stepping over to the shelf 1.'],
  ['too-short', 'Fridge would cool.'],
  ['too-long', Array(41).fill('word').join(' ')],
  ['garbled', 'inventory cabinet potato soap towel fridge mug plate bowl knife'],
  ['garbled', 'The goal is to go \u{fffd} fridge because it is cold.'],
  ['garbled', 'The goal is to to cool an apple, so the fridge.'],
  ['unrelated', 'Good agents plan ahead, and that is why I would think about it first.'],
  ['empty', ' … '],
  ['empty', ''],
] as const)('%s: %s', (flag, text) => {
  expect(flags(text)).toContain(flag);
});

test.each([
  'The apple has to be cold. A fridge should cool it, so I will go to fridge 1 rather than go to shelf 1.',
  'Opening the drawer would cost a step and cool nothing. The fridge is where things get cold, so that is where I go.',
  'I first need a cold place. Shelves and drawers would not help, so the best thing is to go to fridge 1.',
  'I could look around, but I would learn nothing about cooling; the fridge should be the nearest way to the goal.',
  'If nothing happens at the shelf I would have lost a step; going to the fridge keeps the goal in reach.',
  'There may be one option left after that, yet the fridge is needed in any case for a cold apple.',
  '1. The apple should be cold.\n2. The fridge would cool it.',
  '1. Find the apple first.\n2. Then go to fridge 1, where it should get cold.\n3. Put it down.',
  '- The apple should be cold.\n- The fridge would cool it.',
  'The plan is (1) to find the apple, (2) to cool it in the fridge, and (3) to put it away.',
  'I could go to shelf 1, and that would be tempting. The fridge is colder.',
  'I should go to fridge 1. Then I will open drawer 2 for a plate.',
  'I should go to shelf 10 only if the fridge is of no use.',
  'I could go to shelf 1, but that would not cool anything. Opening the drawer would not either, and it would not help. So, the fridge.',
  'If I go to shelf 1 I will need to come back, so let me walk over to the fridge 1.',
  'Things would be kept in drawer 1. Open drawer 2 could be as empty, so the fridge it should be.',
  'I should not repeat an action 30 times, so the fridge should come next.',
  'My action now should bring me to a cold place like the fridge, and drawer 1 or shelf 10 would not be one.',
  'First choice: the fridge. It is my best move, and the shelf could come second.',
])('sound reasoning is left alone: %s', (text) => {
  expect(flags(text)).toEqual([]);
});

test('an action inside the raw answer is what it concludes', () => {
  const text = 'The goal needs cooling, so this should come first: the fridge.';
  expect(flags(text, { raw: `${text} <action>look</action>` })).toEqual(['contradiction']);
  expect(flags(text, { raw: `${text} <action>look\n` })).toEqual(['contradiction']);
  expect(flags(text, { raw: `${text} <action>Go to  fridge 1</action>` })).toEqual([]);
  // A weak model closes a tag that it has not opened: what stands before it is the action.
  expect(flags('I could look in the fridge now', { raw: 'I could look in the fridge now</action>' })).toEqual(
    ['contradiction'],
  );
  expect(flags('So I go to the fridge 1.', { raw: 'So I go to the fridge 1.</action>' })).toEqual([]);
});

test('a text that was cut off at the token limit is too long', () => {
  expect(flags('The apple has to be cold, so the fridge should be', { cutOff: true })).toEqual(['too-long']);
});

test('a longer number is another thing', () => {
  expect(
    flags('Things are kept there, so I will go to shelf 10 some other time, the fridge should be next.'),
  ).toEqual([]);
});

test('every finding carries the words that gave it away', () => {
  for (const { evidence } of detect(subject('The expert action is alternative 2, not the fridge.'))) {
    expect(evidence).not.toBe('');
    expect(evidence.length).toBeLessThanOrEqual(120);
  }
});

test('each rule is a switch; an empty text is dropped whatever the switches say', () => {
  const all = reflectionFiltersSchema.parse({});
  const none = { ...all };
  for (const rule of [
    'contradiction',
    'labelLeak',
    'numbering',
    'outcomeNarration',
    'scaffold',
    'doubled',
    'garbled',
    'unrelated',
    'length',
  ] as const) {
    none[rule] = false;
  }
  const found = detect(subject('The expert action is alternative 2, not the fridge.'));
  expect(droppedBy(found, all)).toEqual(['label-leak', 'numbering']);
  expect(droppedBy(found, { ...all, labelLeak: false })).toEqual(['numbering']);
  expect(droppedBy(found, none)).toEqual([]);
  expect(droppedBy(detect(subject('')), none)).toEqual(['empty']);
});

test('any text is judged, quickly', () => {
  const words = fc.constantFrom(
    'go to fridge 1',
    'the expert',
    'option 2',
    'I will',
    'not',
    '\n',
    '1.',
    'nothing happens',
    '"',
    '<action>',
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.string(), words), { maxLength: 60 }), (pieces) => {
      const startedAt = performance.now();
      detect(subject(pieces.join(' ')));
      expect(performance.now() - startedAt).toBeLessThan(250);
    }),
    { numRuns: 300 },
  );
});
