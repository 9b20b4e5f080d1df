/**
 * Prefix forests: rows that begin alike share the computation of what they share. Each token of the union is computed once;
 * masks and positions follow the tree, so every row sees exactly what it would see alone, and the gradient is the same sum.
 */

export interface ForestRow {
  tokens: Int32Array;
  /** Positions p ≥ 1 whose token is a target: its log-probability given tokens 0 … p − 1. Ascending. */
  targets: Int32Array;
}

export interface Target {
  row: number;
  /** Index into the row's `targets`. */
  index: number;
}

/** One predicted token after one node; rows that agree on both share it. */
export interface Cell {
  node: number;
  token: number;
  targets: Target[];
}

/** Trees side by side in at most `length` tokens. */
export interface Block {
  length: number;
  ids: number[];
  /** Position of each token in its own row. */
  depths: number[];
  /** Index of the parent in this block, −1 for a root. */
  parents: number[];
  cells: Cell[];
}

export interface ForestPlan {
  /** Those of one length follow each other. */
  blocks: Block[];
  /** Tokens that all rows would need alone; tokens computed (without padding). */
  flatTokens: number;
  forestTokens: number;
}

export interface PlanOptions {
  /** Longest block that memory permits. */
  longestBlock: number;
  /** Of a block, in any unit. */
  cost: (length: number) => number;
  /** false: every row alone in its tree (the reference of the equality test). */
  share?: boolean;
}

const step = 64;

interface Computed {
  row: ForestRow;
  index: number;
  /** The tokens that must be computed: nothing is predicted after a row's last target, nor by it. */
  tokens: Int32Array;
}

/**
 * Sorted rows have their longest common prefixes between neighbours, so the union of neighbours i … j has
 * Σ lengths − Σ common prefixes tokens. Cuts between pieces are chosen by dynamic programming; pieces are packed
 * first-fit by falling size; of several block lengths the cheapest plan wins. A row longer than it has a block of its own.
 * @throws RangeError for a row longer than the longest block
 */
export function planForest(rows: readonly ForestRow[], options: PlanOptions): ForestPlan {
  const computed = rows.map((row, index): Computed => ({
    row,
    index,
    tokens: row.tokens.subarray(0, Math.max(1, row.targets.at(-1) ?? 0)),
  }));
  const longest = rows.reduce((length, { tokens }) => Math.max(length, tokens.length), 1);
  if (longest > options.longestBlock) {
    throw new RangeError(
      `a row of ${longest} tokens is longer than the longest block, ${options.longestBlock}`,
    );
  }
  const sorted = computed.toSorted((a, b) => compare(a.tokens, b.tokens) || a.index - b.index);
  const common = sorted.map(({ tokens }, index) => {
    const previous = sorted[index - 1];
    return previous === undefined || options.share === false ? 0 : prefix(previous.tokens, tokens);
  });
  const lengths = sorted.map(({ tokens }) => tokens.length);
  let best: { bins: Bin[]; cost: number } | null = null;
  for (const usual of capacities(options.longestBlock)) {
    const bins = pack(
      cut(lengths, common, usual).map((piece) => ({ piece, tokens: size(lengths, common, ...piece) })),
      usual,
    );
    const cost = bins.reduce((sum, { length }) => sum + options.cost(length), 0);
    if (best === null || cost < best.cost) best = { bins, cost };
    if (bins.length === 1) break;
  }
  if (best === null) throw new RangeError('no rows');
  const blocks = best.bins.map(({ length, pieces }) => {
    const block: Block = { length, ids: [], depths: [], parents: [], cells: [] };
    for (const [from, to] of pieces) addTree(block, sorted.slice(from, to), common.slice(from, to));
    return block;
  });
  return {
    blocks: blocks.toSorted((a, b) => a.length - b.length),
    flatTokens: lengths.reduce((sum, length) => sum + length, 0),
    forestTokens: blocks.reduce((sum, block) => sum + block.ids.length, 0),
  };
}

/** 64, 128, 192, 256, 384, 512, 768 … */
function capacities(longest: number): number[] {
  const powers = Array.from(
    { length: Math.max(1, Math.ceil(Math.log2(longest / step)) + 1) },
    (_, at) => step * 2 ** at,
  );
  const all = powers.flatMap((power) => (power >= 2 * step ? [power, power * 1.5] : [power]));
  return [...new Set(all.map((capacity) => Math.min(capacity, longest)))];
}

type Piece = [from: number, to: number];

interface Bin {
  length: number;
  free: number;
  pieces: Piece[];
}

function compare(a: Int32Array, b: Int32Array): number {
  const at = prefix(a, b);
  return (a[at] ?? -1) - (b[at] ?? -1);
}

function prefix(a: Int32Array, b: Int32Array): number {
  const shorter = Math.min(a.length, b.length);
  let at = 0;
  while (at < shorter && a[at] === b[at]) at += 1;
  return at;
}

/** Tokens of the union of the rows from … to − 1. */
function size(lengths: readonly number[], common: readonly number[], from: number, to: number): number {
  let tokens = 0;
  for (let index = from; index < to; index += 1) {
    tokens += (lengths[index] ?? 0) - (index === from ? 0 : (common[index] ?? 0));
  }
  return tokens;
}

/** Cuts with the fewest tokens in all, each piece within `capacity`; a row that is longer is a piece of its own. */
function cut(lengths: readonly number[], common: readonly number[], capacity: number): Piece[] {
  const count = lengths.length;
  const least = new Float64Array(count + 1).fill(Infinity);
  const start = new Int32Array(count + 1);
  least[0] = 0;
  for (let from = 0; from < count; from += 1) {
    let tokens = 0;
    for (let to = from + 1; to <= count; to += 1) {
      tokens += (lengths[to - 1] ?? 0) - (to - 1 === from ? 0 : (common[to - 1] ?? 0));
      if (tokens > capacity && to > from + 1) break;
      const total = (least[from] ?? Infinity) + tokens;
      // A piece without anything in common at its last border packs better in two.
      if (total < (least[to] ?? Infinity)) {
        least[to] = total;
        start[to] = from;
      }
    }
  }
  const pieces: Piece[] = [];
  for (let to = count; to > 0; to = start[to] ?? 0) pieces.push([start[to] ?? 0, to]);
  return splitUnrelated(pieces.toReversed(), common);
}

/** Neighbours that share nothing are separate trees, whichever piece they are in. */
function splitUnrelated(pieces: readonly Piece[], common: readonly number[]): Piece[] {
  return pieces.flatMap(([from, to]) => {
    const parts: Piece[] = [];
    let begin = from;
    for (let index = from + 1; index <= to; index += 1) {
      if (index < to && (common[index] ?? 0) > 0) continue;
      parts.push([begin, index]);
      begin = index;
    }
    return parts;
  });
}

/** First-fit decreasing into blocks of `capacity`; what is larger gets a block of its own. */
function pack(pieces: readonly { piece: Piece; tokens: number }[], capacity: number): Bin[] {
  const bins: Bin[] = [];
  for (const { piece, tokens } of pieces.toSorted((a, b) => b.tokens - a.tokens || a.piece[0] - b.piece[0])) {
    let bin = bins.find(({ free }) => free >= tokens);
    if (bin === undefined) {
      const length = tokens > capacity ? Math.ceil(tokens / step) * step : capacity;
      bin = { length, free: length - tokens, pieces: [piece] };
      bins.push(bin);
    } else {
      bin.free -= tokens;
      bin.pieces.push(piece);
    }
  }
  return bins;
}

function addTree(block: Block, rows: readonly Computed[], common: readonly number[]): void {
  /** Node of each position of the row before. */
  let path: number[] = [];
  const cells = new Map<string, Cell>();
  rows.forEach(({ row, tokens, index: rowIndex }, order) => {
    path = path.slice(0, order === 0 ? 0 : (common[order] ?? 0));
    for (let position = path.length; position < tokens.length; position += 1) {
      block.parents.push(path.at(-1) ?? -1);
      path.push(block.ids.length);
      block.ids.push(tokens[position] ?? 0);
      block.depths.push(position);
    }
    row.targets.forEach((position, index) => {
      const node = path[position - 1];
      const token = row.tokens[position];
      if (node === undefined || token === undefined)
        throw new RangeError(`row ${rowIndex}: no target at ${position}`);
      const key = `${node}:${token}`;
      let cell = cells.get(key);
      if (cell === undefined) {
        cell = { node, token, targets: [] };
        cells.set(key, cell);
        block.cells.push(cell);
      }
      cell.targets.push({ row: rowIndex, index });
    });
  });
}

/**
 * The rows of 0 and −∞ of a block's queries into `masks`, one [to keys, to − from queries, blocks] for each chunk of queries: a
 * token sees itself and its ancestors, all of which stand before it.
 * @param index of the block
 * @param window most tokens seen, itself included; null: all
 */
export function fillMasks(
  masks: readonly Float32Array[],
  chunks: readonly { from: number; to: number }[],
  index: number,
  block: Block,
  window: number | null,
): void {
  const rows: Float32Array[] = [];
  chunks.forEach(({ from, to }, chunk) => {
    for (let query = 0; query < to - from; query += 1) {
      const at = ((to - from) * index + query) * to;
      rows.push(masks[chunk]?.subarray(at, at + to) ?? new Float32Array(to));
    }
  });
  rows.forEach((row, node) => {
    row.fill(-Infinity);
    const parent = block.parents[node] ?? -1;
    const above = rows[parent];
    if (parent >= 0 && above !== undefined) row.set(above.subarray(0, parent + 1));
    // Padding sees itself, so that no row of the soft-max is empty.
    row[node] = 0;
  });
  if (window === null) return;
  for (let node = 0; node < block.ids.length; node += 1) {
    const row = rows[node];
    let ancestor = node;
    const depth = block.depths[node] ?? 0;
    while (ancestor >= 0) {
      if (row !== undefined && depth - (block.depths[ancestor] ?? 0) >= window) row[ancestor] = -Infinity;
      ancestor = block.parents[ancestor] ?? -1;
    }
  }
}
