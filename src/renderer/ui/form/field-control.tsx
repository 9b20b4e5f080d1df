import { NumberInput, Select, Switch, TagsInput, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { Field } from './fields.ts';
import { fieldId, useFormData, useSetField } from './form-context.tsx';
import { EnvironmentSelect, ModelSelect } from './pickers.tsx';

/** What an empty list of words means. */
function wordsOf(defaultValue: unknown): string {
  return Array.isArray(defaultValue) ? defaultValue.join(', ') : '';
}

type Simple = Extract<Field, { kind: 'number' | 'text' | 'switch' | 'choice' | 'words' }>;

/** The control of a plain field. */
export function FieldControl({ field }: { field: Simple }) {
  const setField = useSetField();
  const value = useFormData((form) => form.value(field.path));
  const implied = useFormData((form) => form.implied?.(field.path));
  const id = fieldId(field.path);
  // A key that is emptied goes when one leaves the field: deleted at once, it would lose its comment while one types the next value.
  const [emptied, setEmptied] = useState(false);
  // A number on its way (`0.00` before `0.005`) is text until it says what it is.
  const [typed, setTyped] = useState<string | null>(null);
  const set = (next: unknown) => {
    setEmptied(false);
    setField(field.path, next);
  };
  const onBlur = () => {
    if (emptied) set(undefined);
  };
  const shownDefault =
    implied ??
    (field.defaultValue === null || field.defaultValue === undefined ? '' : String(field.defaultValue));
  switch (field.kind) {
    case 'number':
      return (
        <NumberInput
          id={id}
          w={110}
          value={typed ?? (typeof value === 'number' ? value : '')}
          onBlur={() => {
            if (typed === null) return;
            setTyped(null);
            if (typed !== '' && Number.isFinite(Number(typed))) setField(field.path, Number(typed));
            else if (value !== undefined) setField(field.path, undefined);
          }}
          placeholder={shownDefault === '' ? 'none' : shownDefault}
          allowDecimal={!field.integer}
          thousandSeparator=","
          onChange={(next) => {
            setTyped(typeof next === 'number' ? null : next);
            if (typeof next === 'number') set(next);
          }}
        />
      );
    case 'switch':
      return (
        <Switch
          id={id}
          checked={typeof value === 'boolean' ? value : field.defaultValue === true}
          onChange={(event) => {
            const next = event.currentTarget.checked;
            set(next === field.defaultValue ? undefined : next);
          }}
        />
      );
    case 'choice':
      return (
        <Select
          id={id}
          w={180}
          data={field.options}
          value={typeof value === 'string' ? value : shownDefault}
          onChange={(next) => {
            set(next === field.defaultValue ? undefined : (next ?? undefined));
          }}
        />
      );
    case 'words':
      return (
        <TagsInput
          id={id}
          value={Array.isArray(value) ? value.map(String) : []}
          placeholder={Array.isArray(value) && value.length > 0 ? '' : wordsOf(field.defaultValue)}
          onChange={(next) => {
            set(next.length === 0 ? undefined : next);
          }}
        />
      );
    case 'text':
      if (field.path.join('.') === 'environment.id')
        return <EnvironmentSelect id={id} value={value} onChange={set} />;
      if (field.key === 'model') return <ModelSelect id={id} value={value} onChange={set} />;
      if (field.path.join('.') === 'base')
        return <ModelSelect id={id} value={value} onChange={set} filesOnly />;
      return (
        <TextInput
          id={id}
          value={typeof value === 'string' && !emptied ? value : ''}
          placeholder={shownDefault}
          onBlur={onBlur}
          onChange={(event) => {
            const next = event.currentTarget.value;
            if (next !== '') set(next);
            else setEmptied(true);
          }}
        />
      );
  }
}
