/**
 * What the generated homes are made of: classes of receptacles and objects, what fits where, and which rooms have what. Class names are
 * ALFWorld's, so that a model trained here meets the same words there; the layouts are ours.
 */

export const roomKinds = ['kitchen', 'living room', 'bedroom', 'bathroom'] as const;
export type RoomKind = (typeof roomKinds)[number];

function words(...lines: string[]): string[] {
  return lines.flatMap((line) => line.split(' '));
}

/** Objects that can be picked up, by what can be done with them. */
const cleanable = words(
  'apple bowl butterknife cloth cup dishsponge egg fork kettle knife ladle lettuce mug pan',
  'plate pot potato soapbar spatula spoon tomato',
);
const heatable = words('apple bread cup egg mug plate potato tomato');
const coolable = words('apple bowl bread cup egg lettuce mug pan plate pot potato tomato winebottle');
const sliceable = words('apple bread egg lettuce potato tomato');
const vessels = words('bowl box cup mug plate pan pot');
/** Furnishings: seen in lists, never picked up. */
const fixed = ['desklamp', 'floorlamp', 'houseplant', 'television'];
export const lamps = ['desklamp', 'floorlamp'] as const;

export const ability = {
  cleanable: new Set(cleanable),
  heatable: new Set(heatable),
  coolable: new Set(coolable),
  sliceable: new Set(sliceable),
  vessel: new Set(vessels),
  fixed: new Set(fixed),
  toggleable: new Set<string>(lamps),
};

export const openable = new Set(words('cabinet drawer fridge microwave safe'));

const food = words('apple bread egg lettuce potato tomato');
const cutlery = words('butterknife fork knife ladle spatula spoon');
const crockery = ['bowl', 'cup', 'mug', 'plate'];
const cookware = ['kettle', 'pan', 'pot'];
const bottles = ['glassbottle', 'soapbottle', 'spraybottle', 'winebottle'];
const shakers = ['peppershaker', 'saltshaker'];
const desktop = words(
  'alarmclock book box candle cd cellphone creditcard keychain laptop newspaper pen pencil',
  'remotecontrol statue tissuebox vase watch wateringcan',
);
const washing = words('cloth dishsponge handtowel soapbar soapbottle spraybottle tissuebox toiletpaper');
const seatable = words(
  'basketball book box cellphone creditcard keychain laptop newspaper pillow remotecontrol',
);
const tabletop = [
  ...food,
  ...cutlery,
  ...crockery,
  ...cookware,
  ...bottles,
  ...shakers,
  ...desktop,
  ...washing,
  ...words('baseballbat basketball tennisracket houseplant desklamp'),
];

/** [receptacle class] → object classes that it takes. */
export const canContain: Readonly<Record<string, ReadonlySet<string>>> = {
  armchair: new Set(seatable),
  bathtubbasin: new Set(['cloth', 'dishsponge', 'handtowel', 'soapbar']),
  bed: new Set(words('baseballbat basketball book cellphone laptop newspaper pillow tennisracket teddybear')),
  cabinet: new Set([
    ...crockery,
    ...cookware,
    ...bottles,
    ...shakers,
    ...washing,
    ...words('book box candle cd ladle newspaper plunger vase wateringcan'),
  ]),
  cart: new Set(
    words(
      'candle cloth dishsponge handtowel mug plunger soapbar soapbottle spraybottle statue',
      'tissuebox toiletpaper vase',
    ),
  ),
  coffeemachine: new Set(['mug']),
  coffeetable: new Set(tabletop),
  countertop: new Set(tabletop),
  desk: new Set([
    ...desktop,
    ...crockery,
    ...bottles,
    ...words('baseballbat basketball cloth desklamp houseplant tennisracket toiletpaper'),
  ]),
  diningtable: new Set(tabletop),
  drawer: new Set([
    ...cutlery,
    ...shakers,
    ...washing,
    ...words(
      'book candle cd cellphone creditcard keychain newspaper pen pencil remotecontrol watch',
      'wateringcan',
    ),
  ]),
  dresser: new Set([
    ...desktop,
    ...crockery,
    ...bottles,
    ...words('basketball cloth desklamp floorlamp houseplant television tennisracket toiletpaper'),
  ]),
  fridge: new Set([...food, ...crockery, ...words('glassbottle pan pot winebottle')]),
  garbagecan: new Set([...food, ...washing, ...words('cd newspaper pen pencil winebottle')]),
  handtowelholder: new Set(['handtowel']),
  laundryhamper: new Set(['cloth']),
  microwave: new Set(words('apple bowl bread cup egg glassbottle mug plate potato tomato')),
  ottoman: new Set(seatable),
  safe: new Set(words('cd cellphone creditcard keychain statue vase watch')),
  shelf: new Set([
    ...desktop,
    ...crockery,
    ...bottles,
    ...shakers,
    ...washing,
    ...words('kettle pot desklamp houseplant'),
  ]),
  sidetable: new Set([...tabletop, 'floorlamp']),
  sinkbasin: new Set([
    ...food.filter((name) => name !== 'bread'),
    ...cutlery,
    ...crockery,
    ...cookware,
    'cloth',
    'dishsponge',
    'glassbottle',
    'handtowel',
    'soapbar',
  ]),
  sofa: new Set([...seatable, 'teddybear']),
  stoveburner: new Set(cookware),
  toaster: new Set(['bread']),
  toilet: new Set(['candle', 'newspaper', ...washing]),
  toiletpaperhanger: new Set(['toiletpaper']),
  towelholder: new Set(['handtowel', 'towel']),
  tvstand: new Set(['tissuebox', 'television', 'remotecontrol']),
};

/** How many of a receptacle class a room has: [fewest, most]. */
type Inventory = Readonly<Record<string, readonly [number, number]>>;

interface RoomContent {
  /** Rooms of train, development and seen. */
  readonly known: Inventory;
  /** Rooms of unseen: other numbers, and furniture that no known room of this kind has. */
  readonly heldOut: Inventory;
  /** Rooms of the small preset have these, and extras up to six or seven places. */
  readonly small: readonly string[];
  readonly smallExtras: readonly string[];
  readonly smallHeldOut: readonly string[];
  readonly smallHeldOutExtras: readonly string[];
  readonly objects: readonly string[];
}

export const rooms: Readonly<Record<RoomKind, RoomContent>> = {
  kitchen: {
    known: {
      fridge: [1, 1],
      microwave: [1, 1],
      sinkbasin: [1, 1],
      countertop: [1, 3],
      cabinet: [4, 12],
      drawer: [3, 9],
      stoveburner: [2, 4],
      coffeemachine: [1, 1],
      toaster: [0, 1],
      garbagecan: [1, 1],
      diningtable: [0, 1],
      shelf: [0, 3],
    },
    heldOut: {
      fridge: [1, 1],
      microwave: [1, 1],
      sinkbasin: [1, 2],
      countertop: [2, 4],
      cabinet: [8, 16],
      drawer: [6, 13],
      stoveburner: [4, 6],
      coffeemachine: [1, 1],
      toaster: [1, 1],
      garbagecan: [1, 1],
      sidetable: [1, 2],
      cart: [1, 1],
    },
    small: words('fridge microwave sinkbasin countertop'),
    smallExtras: words(
      'cabinet cabinet drawer drawer diningtable shelf garbagecan stoveburner coffeemachine toaster countertop',
    ),
    smallHeldOut: words('fridge microwave sinkbasin sidetable'),
    smallHeldOutExtras: words('countertop countertop cart cabinet drawer sidetable stoveburner'),
    objects: [
      ...food,
      ...cutlery,
      ...crockery,
      ...cookware,
      ...shakers,
      ...words('dishsponge glassbottle soapbottle winebottle houseplant book creditcard vase statue'),
    ],
  },
  'living room': {
    known: {
      sofa: [1, 1],
      armchair: [1, 2],
      coffeetable: [1, 1],
      sidetable: [1, 3],
      drawer: [2, 8],
      shelf: [0, 4],
      garbagecan: [1, 1],
      tvstand: [0, 1],
      dresser: [0, 1],
    },
    heldOut: {
      sofa: [1, 2],
      ottoman: [1, 1],
      coffeetable: [2, 2],
      diningtable: [1, 1],
      desk: [1, 1],
      cabinet: [2, 6],
      shelf: [3, 7],
      garbagecan: [1, 1],
      safe: [1, 1],
    },
    small: words('sofa coffeetable'),
    smallExtras: words(
      'armchair armchair sidetable sidetable drawer drawer shelf shelf garbagecan tvstand dresser',
    ),
    smallHeldOut: words('sofa ottoman desk'),
    smallHeldOutExtras: words('coffeetable safe shelf shelf cabinet cabinet diningtable'),
    objects: [
      ...desktop,
      ...bottles.slice(0, 1),
      'pillow',
      'plate',
      'bowl',
      'houseplant',
      'television',
      'basketball',
    ],
  },
  bedroom: {
    known: {
      bed: [1, 1],
      desk: [1, 1],
      drawer: [3, 9],
      dresser: [0, 1],
      sidetable: [0, 2],
      shelf: [0, 4],
      garbagecan: [1, 1],
      laundryhamper: [0, 1],
      armchair: [0, 1],
    },
    heldOut: {
      bed: [1, 2],
      desk: [2, 2],
      cabinet: [2, 5],
      shelf: [4, 8],
      safe: [1, 1],
      ottoman: [1, 1],
      sofa: [0, 1],
      garbagecan: [1, 1],
    },
    small: words('bed desk'),
    smallExtras: words(
      'drawer drawer drawer dresser sidetable sidetable shelf shelf garbagecan armchair laundryhamper',
    ),
    smallHeldOut: words('bed desk safe'),
    smallHeldOutExtras: words('ottoman shelf shelf cabinet cabinet sofa desk'),
    objects: [...desktop, ...words('pillow cloth mug bowl teddybear baseballbat basketball tennisracket')],
  },
  bathroom: {
    known: {
      toilet: [1, 1],
      sinkbasin: [1, 2],
      bathtubbasin: [0, 1],
      countertop: [1, 1],
      cabinet: [2, 6],
      drawer: [0, 4],
      garbagecan: [1, 1],
      handtowelholder: [1, 2],
      towelholder: [1, 1],
      toiletpaperhanger: [1, 1],
      shelf: [0, 2],
    },
    heldOut: {
      toilet: [1, 1],
      sinkbasin: [1, 1],
      bathtubbasin: [1, 1],
      cart: [1, 1],
      sidetable: [1, 1],
      dresser: [1, 1],
      drawer: [2, 6],
      garbagecan: [1, 1],
      handtowelholder: [2, 2],
      toiletpaperhanger: [1, 1],
    },
    small: words('toilet sinkbasin countertop'),
    smallExtras: words(
      'cabinet cabinet drawer drawer garbagecan towelholder handtowelholder toiletpaperhanger bathtubbasin shelf',
    ),
    smallHeldOut: words('toilet sinkbasin cart'),
    smallHeldOutExtras: words('dresser bathtubbasin drawer drawer sidetable handtowelholder'),
    objects: [...washing, ...words('candle plunger towel spraybottle newspaper')],
  },
};

export const taskTypes = [
  'pick_and_place_simple',
  'look_at_obj_in_light',
  'pick_clean_then_place_in_recep',
  'pick_heat_then_place_in_recep',
  'pick_cool_then_place_in_recep',
  'pick_two_obj_and_place',
] as const;
export type TaskType = (typeof taskTypes)[number];

/** Rooms in which a type of task makes sense. */
export const roomsOfType: Readonly<Record<TaskType, readonly RoomKind[]>> = {
  pick_and_place_simple: roomKinds,
  look_at_obj_in_light: ['living room', 'bedroom'],
  pick_clean_then_place_in_recep: ['kitchen', 'bathroom'],
  pick_heat_then_place_in_recep: ['kitchen'],
  pick_cool_then_place_in_recep: ['kitchen'],
  pick_two_obj_and_place: roomKinds,
};

/** ALFWorld's two sentences for each type; `{target}` is a receptacle, or the lamp. */
export const sentences: Readonly<Record<TaskType, readonly [string, string]>> = {
  pick_and_place_simple: ['put a {object} in {target}', 'put some {object} on {target}'],
  look_at_obj_in_light: ['look at {object} under the {target}', 'examine the {object} with the {target}'],
  pick_clean_then_place_in_recep: [
    'put a clean {object} in {target}',
    'clean some {object} and put it in {target}',
  ],
  pick_heat_then_place_in_recep: [
    'put a hot {object} in {target}',
    'heat some {object} and put it in {target}',
  ],
  pick_cool_then_place_in_recep: [
    'put a cool {object} in {target}',
    'cool some {object} and put it in {target}',
  ],
  pick_two_obj_and_place: ['put two {object} in {target}', 'find two {object} and put them in {target}'],
};
