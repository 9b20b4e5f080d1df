/**
 * ggml's stored types, written and read by their format alone: what the trainer reads through ggml is compared with it.
 * Rounding is plain (no search for better scales); reading is exact.
 */
export interface StoredType {
  /** ggml's number of the type, `general.file_type` of a model of it, and the smallest multiple of a row's length. */
  code: number;
  fileType: number;
  block: number;
  encode: (values: Float32Array) => Uint8Array;
  decode: (bytes: Uint8Array) => Float32Array;
}

const bytesOf = (array: Float16Array | Uint16Array): Uint8Array =>
  new Uint8Array(array.buffer, array.byteOffset, array.byteLength);

/** Blocks of `elements` values in `bytes` bytes, each written and read alone. */
function blocks(
  elements: number,
  bytes: number,
  write: (values: Float32Array, view: DataView) => void,
  read: (view: DataView, values: Float32Array) => void,
): Pick<StoredType, 'block' | 'encode' | 'decode'> {
  return {
    block: elements,
    encode: (values) => {
      const out = new Uint8Array((values.length / elements) * bytes);
      for (let at = 0; at * elements < values.length; at += 1)
        write(
          values.subarray(at * elements, (at + 1) * elements),
          new DataView(out.buffer, at * bytes, bytes),
        );
      return out;
    },
    decode: (stored) => {
      const out = new Float32Array((stored.length / bytes) * elements);
      for (let at = 0; at * bytes < stored.length; at += 1)
        read(
          new DataView(stored.buffer, stored.byteOffset + at * bytes, bytes),
          out.subarray(at * elements, (at + 1) * elements),
        );
      return out;
    },
  };
}

const clamp = (value: number, low: number, high: number): number => Math.min(high, Math.max(low, value));
const largest = (values: Float32Array): number =>
  values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
const { fround } = Math;

const f16: StoredType = {
  code: 1,
  fileType: 1,
  block: 1,
  encode: (values) => bytesOf(new Float16Array(values)),
  decode: (bytes) => new Float32Array(new Float16Array(bytes.slice().buffer)),
};

/** The upper half of a float32, rounded to the nearest. */
const bf16: StoredType = {
  code: 30,
  fileType: 32,
  block: 1,
  encode: (values) => {
    const bits = new Uint32Array(values.slice().buffer);
    return bytesOf(Uint16Array.from(bits, (bit) => (bit + 0x7fff + ((bit >>> 16) & 1)) >>> 16));
  },
  decode: (bytes) =>
    new Float32Array(Uint32Array.from(new Uint16Array(bytes.slice().buffer), (half) => half << 16).buffer),
};

/** 32 values: a scale d, then int8 q. value = d q */
const q8: StoredType = {
  code: 8,
  fileType: 7,
  ...blocks(
    32,
    34,
    (values, view) => {
      view.setFloat16(0, largest(values) / 127, true);
      const d = view.getFloat16(0, true);
      values.forEach((value, index) => {
        view.setInt8(2 + index, d === 0 ? 0 : clamp(Math.round(value / d), -127, 127));
      });
    },
    (view, values) => {
      const d = view.getFloat16(0, true);
      for (let index = 0; index < 32; index += 1) values[index] = d * view.getInt8(2 + index);
    },
  ),
};

/** The 6-bit scale and minimum of the j-th of eight parts, from twelve bytes at 4. */
function q4Part(view: DataView, j: number): { scale: number; minimum: number } {
  const at = (index: number): number => view.getUint8(4 + index);
  if (j < 4) return { scale: at(j) & 63, minimum: at(j + 4) & 63 };
  return {
    scale: (at(j + 4) & 15) | ((at(j - 4) >> 6) << 4),
    minimum: (at(j + 4) >> 4) | ((at(j) >> 6) << 4),
  };
}

/** 256 values in eight parts: d, dmin, scales s and minima m of six bits, q of four bits. value = d s q − dmin m */
const q4K: StoredType = {
  code: 12,
  fileType: 14,
  ...blocks(
    256,
    144,
    (values, view) => {
      const parts = Array.from({ length: 8 }, (_, j) => {
        const part = values.subarray(j * 32, (j + 1) * 32);
        const minimum = Math.max(0, -Math.min(...part));
        return { minimum, scale: (Math.max(...part) + minimum) / 15 };
      });
      view.setFloat16(0, Math.max(...parts.map(({ scale }) => scale)) / 63, true);
      view.setFloat16(2, Math.max(...parts.map(({ minimum }) => minimum)) / 63, true);
      const d = view.getFloat16(0, true);
      const dMinimum = view.getFloat16(2, true);
      const rounded = parts.map(({ scale, minimum }) => ({
        s: clamp(Math.round(scale / d), 0, 63),
        m: clamp(Math.round(minimum / dMinimum), 0, 63),
      }));
      for (let j = 0; j < 4; j += 1) {
        const { s, m } = rounded[j] ?? { s: 0, m: 0 };
        const high = rounded[j + 4] ?? { s: 0, m: 0 };
        view.setUint8(4 + j, s | ((high.s >> 4) << 6));
        view.setUint8(8 + j, m | ((high.m >> 4) << 6));
        view.setUint8(12 + j, (high.s & 15) | ((high.m & 15) << 4));
      }
      values.forEach((value, index) => {
        const { s, m } = rounded[index >> 5] ?? { s: 0, m: 0 };
        const q = s === 0 ? 0 : clamp(Math.round((value + dMinimum * m) / (d * s)), 0, 15);
        const at = 16 + (index >> 6) * 32 + (index & 31);
        view.setUint8(at, view.getUint8(at) | ((index & 32) === 0 ? q : q << 4));
      });
    },
    (view, values) => {
      const d = view.getFloat16(0, true);
      const dMinimum = view.getFloat16(2, true);
      for (let index = 0; index < 256; index += 1) {
        const { scale, minimum } = q4Part(view, index >> 5);
        const byte = view.getUint8(16 + (index >> 6) * 32 + (index & 31));
        const q = (index & 32) === 0 ? byte & 15 : byte >> 4;
        values[index] = fround(fround(d * scale) * q) - fround(dMinimum * minimum);
      }
    },
  ),
};

/** Where the six bits of a value lie: four of them, two of them, and its scale. */
function q6Place(index: number): {
  low: number;
  lowShift: number;
  high: number;
  highShift: number;
  scale: number;
} {
  const half = index >> 7;
  const quarter = (index >> 5) & 3;
  const l = index & 31;
  return {
    low: half * 64 + l + (quarter & 1) * 32,
    lowShift: quarter < 2 ? 0 : 4,
    high: 128 + half * 32 + l,
    highShift: quarter * 2,
    scale: 192 + half * 8 + quarter * 2 + (l >> 4),
  };
}

/** 256 values in sixteen parts: four low bits, two high bits, int8 scales s, then d. value = d s (q − 32) */
const q6K: StoredType = {
  code: 14,
  fileType: 18,
  ...blocks(
    256,
    210,
    (values, view) => {
      const scales = Array.from(
        { length: 16 },
        (_, j) => largest(values.subarray(j * 16, (j + 1) * 16)) / 31,
      );
      view.setFloat16(208, Math.max(...scales) / 127, true);
      const d = view.getFloat16(208, true);
      scales.forEach((scale, j) => {
        view.setInt8(192 + j, d === 0 ? 0 : clamp(Math.round(scale / d), -128, 127));
      });
      values.forEach((value, index) => {
        const place = q6Place(index);
        const s = view.getInt8(place.scale);
        const q = (s === 0 ? 0 : clamp(Math.round(value / (d * s)), -32, 31)) + 32;
        view.setUint8(place.low, view.getUint8(place.low) | ((q & 15) << place.lowShift));
        view.setUint8(place.high, view.getUint8(place.high) | ((q >> 4) << place.highShift));
      });
    },
    (view, values) => {
      const d = view.getFloat16(208, true);
      for (let index = 0; index < 256; index += 1) {
        const place = q6Place(index);
        const q =
          ((view.getUint8(place.low) >> place.lowShift) & 15) |
          (((view.getUint8(place.high) >> place.highShift) & 3) << 4);
        values[index] = fround(d * view.getInt8(place.scale)) * (q - 32);
      }
    },
  ),
};

export const storedTypes = { F16: f16, BF16: bf16, Q8_0: q8, Q4_K: q4K, Q6_K: q6K } as const;
