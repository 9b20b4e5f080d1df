type Defined<Value> = { [Key in keyof Value]: Exclude<Value[Key], undefined> };

/** Without the keys that are undefined: a field that was not sent is left alone. */
export function definedOnly<Value extends object>(value: Value): Partial<Defined<Value>> {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as Partial<
    Defined<Value>
  >;
}
