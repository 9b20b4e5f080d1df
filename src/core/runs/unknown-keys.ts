/**
 * Keys that the schema does not know. Zod drops them silently, and a misspelt `temprature` would then run the default; here each
 * is an error with the nearest known key.
 */
import type { $ZodType, $ZodTypes } from 'zod/v4/core';
import { nearest } from '#core/runs/nearest.ts';

export interface UnknownKey {
  path: (string | number)[];
  message: string;
}

function unwrap(schema: $ZodType): $ZodTypes {
  const { def } = (schema as $ZodTypes)._zod;
  if ('innerType' in def) return unwrap(def.innerType);
  if (def.type === 'pipe') return unwrap(def.in);
  return schema as $ZodTypes;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Of a discriminated union the option that the value names; of a plain union the first that takes an object. */
function chooseOption(options: readonly $ZodType[], discriminator: string | undefined, value: unknown) {
  const objects = options.map(unwrap).filter((option) => option._zod.def.type === 'object');
  if (discriminator === undefined || !isRecord(value)) return objects[0];
  return objects.find((option) => {
    const { def } = option._zod;
    const field = def.type === 'object' ? def.shape[discriminator] : undefined;
    return field !== undefined && unwrap(field)._zod.values?.has(value[discriminator] as string);
  });
}

function inObject(
  shape: Readonly<Record<string, $ZodType>>,
  value: Record<string, unknown>,
  path: (string | number)[],
): UnknownKey[] {
  return Object.entries(value).flatMap(([key, child]) => {
    const field = Object.hasOwn(shape, key) ? shape[key] : undefined;
    if (field !== undefined) return unknownKeys(field, child, [...path, key]);
    const suggestion = nearest(key, Object.keys(shape));
    const help =
      suggestion === null
        ? `Known here: ${Object.keys(shape).join(', ')}.`
        : `Did you mean \`${suggestion}\`?`;
    return [{ path: [...path, key], message: `Unknown key \`${key.slice(0, 60)}\`. ${help}` }];
  });
}

export function unknownKeys(schema: $ZodType, value: unknown, path: (string | number)[] = []): UnknownKey[] {
  const { def } = unwrap(schema)._zod;
  if (def.type === 'object' && isRecord(value)) return inObject(def.shape, value, path);
  if (def.type === 'array' && Array.isArray(value)) {
    return value.flatMap((item, index) => unknownKeys(def.element, item, [...path, index]));
  }
  if (def.type === 'union') {
    const option = chooseOption(
      def.options,
      'discriminator' in def ? String(def.discriminator) : undefined,
      value,
    );
    return option === undefined ? [] : unknownKeys(option, value, path);
  }
  return [];
}
