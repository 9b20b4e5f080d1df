/** What other worlds are made of. No word here names anything in the bundled household: a test compares them. */

function words(...lines: string[]): string[] {
  return lines.flatMap((line) => line.split(' '));
}

export const settings = words(
  'harbour workshop library stable market garden station museum theatre farm ship bakery observatory mine tower',
  'orchard greenhouse castle lighthouse warehouse studio chapel camp mill boatyard school archive forge inn zoo',
);

export const placeNouns = words(
  'crate barrel bench rack trunk hutch kiosk stall booth wagon hangar locker basket bin pier well altar pedestal',
  'ledge easel anvil oven loom manger trough cellar loft alcove niche chest casket pouch sack hook rail ramp gate',
  'stump boulder nest cage tent sled canoe raft dock plinth tray hopper vat tank kiln press scale lectern pulpit',
);

export const thingNouns = words(
  'lantern rope hammer map compass flute violin drum brush canvas saddle bridle horseshoe shovel rake seed turnip',
  'onion carrot pear plum cherry walnut pebble shell feather ribbon button needle thread bolt screw wrench pulley',
  'gear lens prism magnet coin medal crown ring necklace scroll letter stamp parcel ticket whistle kite puppet mask',
  'cloak glove boot hat scarf belt sword shield bow arrow helmet net anchor oar sail bucket jug flask vial funnel',
  'mortar chisel saw nail brick tile plank log torch wick match flint ember coal ingot pearl amber jade opal ruby',
  'fossil bone tooth acorn fern moss rose tulip lily daisy honey cheese pie cake biscuit pretzel noodle lemon melon',
  'dumpling radish leek pumpkin hymnal ledger quill inkpot globe hourglass telescope thermometer abacus domino dice',
);

/** Stand somewhere and are worked, never carried. */
export const fixtures = words('bell gong lever crank siren beacon pump winch dial buzzer');
export const fixtureVerbs = words('ring sound pull turn wind trip work spin strike press');

/** [verb, participle] */
export const treatments = [
  ['polish', 'polished'],
  ['paint', 'painted'],
  ['mend', 'mended'],
  ['wrap', 'wrapped'],
  ['sharpen', 'sharpened'],
  ['dry', 'dried'],
  ['weigh', 'weighed'],
  ['mark', 'marked'],
  ['oil', 'oiled'],
  ['fold', 'folded'],
  ['bless', 'blessed'],
  ['dye', 'dyed'],
] as const;

export const onsets = words('b br c cl d dr f fl g gr h j k l m n p pl qu r s sk st t tr v w z sh th');
export const vowels = words('a e i o u ai ea oo ou');
export const codas = ['', '', '', ...words('n r l m t k s nd rk sh x p')];

interface Choices {
  pick<Item>(items: readonly Item[]): Item;
  integer(low: number, high: number): number;
}

/** What could be spelt by chance and names something in the bundled household; a test finds them. */
export const notMadeUp: ReadonlySet<string> = new Set(
  words('cabinet drawer sofa safe plate vase potato tomato towel bedroom'),
);

/** A word of two or three syllables that means nothing, so that only copying can spell it. */
export function madeUpWord(draw: Choices): string {
  let word = '';
  for (let count = draw.integer(2, 3); count > 0; count -= 1) {
    word += draw.pick(onsets) + draw.pick(vowels) + (count === 1 ? draw.pick(codas) : '');
  }
  return notMadeUp.has(word) ? madeUpWord(draw) : word;
}
