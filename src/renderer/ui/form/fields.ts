/**
 * From a zod schema to what a form shows. The schema's metadata is the only source of titles, units, help and the paper's values;
 * this file only reads it.
 */
import type { z } from 'zod';

export interface FieldMeta {
  title: string;
  unit: string;
  help: string;
  /** The paper's own value, where it has one. */
  paper: string;
  advanced: boolean;
}

interface Base {
  /** Key in the parent object. */
  key: string;
  path: string[];
  meta: FieldMeta;
  /** What an absent key means; undefined: the key is required. */
  defaultValue: unknown;
  nullable: boolean;
}
export type Field =
  | (Base & {
      kind: 'number';
      integer: boolean;
      min: number | null;
      max: number | null;
      /** `min` itself is too little. */ aboveMin: boolean;
    })
  | (Base & { kind: 'text' })
  | (Base & { kind: 'switch' })
  | (Base & { kind: 'choice'; options: string[] })
  | (Base & { kind: 'words' })
  | (Base & { kind: 'group'; fields: Field[] })
  | (Base & { kind: 'variants'; discriminator: string; variants: Variant[] })
  /** A word, or an object in its place: `self` or a role. */
  | (Base & { kind: 'word-or-group'; words: string[]; fields: Field[] })
  | (Base & { kind: 'groups'; fields: Field[] })
  | (Base & { kind: 'fixed'; value: unknown });

export interface Variant {
  value: string;
  meta: FieldMeta;
  fields: Field[];
}

type AnySchema = z.core.$ZodType;

function metaOf(schema: AnySchema, key: string): FieldMeta {
  const raw = (schema as z.ZodType).meta() ?? {};
  const text = (value: unknown) => (typeof value === 'string' ? value : '');
  return {
    title: text(raw['title']) || titleFromKey(key),
    unit: text(raw['unit']),
    help: text(raw['help']) || text(raw.description),
    paper: text(raw['paper']),
    advanced: raw['advanced'] === true,
  };
}

function titleFromKey(key: string): string {
  const words = key.replaceAll(/([A-Z])/g, ' $1').toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

interface Unwrapped {
  schema: AnySchema;
  meta: FieldMeta;
  defaultValue: unknown;
  nullable: boolean;
}

/** Takes off default, prefault, optional and nullable; the outermost title wins. */
function unwrap(outer: AnySchema, key: string): Unwrapped {
  let schema = outer;
  let meta = metaOf(outer, key);
  let defaultValue: unknown;
  let nullable = false;
  for (;;) {
    const def = (schema as z.core.$ZodTypes)._zod.def;
    if (def.type === 'default' || def.type === 'prefault') defaultValue ??= def.defaultValue;
    else if (def.type === 'nullable') nullable = true;
    else if (def.type !== 'optional') return { schema, meta, defaultValue, nullable };
    schema = def.innerType;
    const inner = metaOf(schema, key);
    meta = {
      title: meta.title === titleFromKey(key) ? inner.title : meta.title,
      unit: meta.unit || inner.unit,
      help: meta.help || inner.help,
      paper: meta.paper || inner.paper,
      advanced: meta.advanced || inner.advanced,
    };
  }
}

function shapeFields(schema: AnySchema, path: string[], skip: string | null = null): Field[] {
  const def = (schema as z.core.$ZodTypes)._zod.def;
  if (def.type !== 'object') return [];
  return Object.entries(def.shape)
    .filter(([key]) => key !== skip)
    .map(([key, child]) => fieldOf(child, key, [...path, key]));
}

/** The type's own limit (a safe integer) is no limit that a person must read. */
function limit(value: number | null): number | null {
  return value === null || Math.abs(value) >= Number.MAX_SAFE_INTEGER ? null : value;
}

/** Whether the least value is itself too little: `positive()`, `gt()`. */
function isExclusive(number: z.ZodNumber): boolean {
  return (number._zod.def.checks ?? []).some((check) => {
    const def = check._zod.def as z.core.$ZodCheckGreaterThanDef | { check: string };
    return (
      'inclusive' in def && def.check === 'greater_than' && !def.inclusive && def.value === number.minValue
    );
  });
}

export function fieldOf(outer: AnySchema, key: string, path: string[]): Field {
  const { schema, meta, defaultValue, nullable } = unwrap(outer, key);
  const base = { key, path, meta, defaultValue, nullable };
  const def = (schema as z.core.$ZodTypes)._zod.def;
  switch (def.type) {
    case 'number': {
      const number = schema as z.ZodNumber;
      return {
        ...base,
        kind: 'number',
        integer: number.format?.includes('int') === true,
        min: limit(number.minValue),
        max: limit(number.maxValue),
        aboveMin: isExclusive(number),
      };
    }
    case 'boolean':
      return { ...base, kind: 'switch' };
    case 'enum':
      return { ...base, kind: 'choice', options: Object.values(def.entries).map(String) };
    case 'literal':
      return { ...base, kind: 'fixed', value: def.values[0] };
    case 'object':
      return { ...base, kind: 'group', fields: shapeFields(schema, path) };
    case 'array': {
      const element = def.element as z.core.$ZodTypes;
      if (element._zod.def.type === 'object')
        return { ...base, kind: 'groups', fields: shapeFields(element, path) };
      return { ...base, kind: 'words' };
    }
    case 'union':
      return unionField(base, def);
    default:
      return { ...base, kind: 'text' };
  }
}

function unionField(base: Base, def: z.core.$ZodUnionDef): Field {
  const { path } = base;
  if ('discriminator' in def && typeof def.discriminator === 'string') {
    const { discriminator } = def;
    return {
      ...base,
      kind: 'variants',
      discriminator,
      variants: def.options.map((option) => {
        const shape = (option as z.core.$ZodObject)._zod.def.shape;
        const literal = shape[discriminator] as z.core.$ZodLiteral | undefined;
        const value = String(literal?._zod.def.values[0] ?? '');
        return { value, meta: metaOf(option, value), fields: shapeFields(option, path, discriminator) };
      }),
    };
  }
  const words: string[] = [];
  let fields: Field[] = [];
  for (const option of def.options) {
    const inner = (option as z.core.$ZodTypes)._zod.def;
    if (inner.type === 'literal') words.push(...inner.values.map(String));
    if (inner.type === 'object') fields = shapeFields(option, path);
  }
  return { ...base, kind: 'word-or-group', words, fields };
}
