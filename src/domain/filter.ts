import type { InputCheck, Rule } from './input.ts';

/** How a row's property has to compare with the value of a filter's field; a row without a value doesn't match. */
export type Comparison = 'contains' | 'oneOf' | 'equals' | 'atLeast' | 'atMost' | 'before';

export type FilterValue = string | number | boolean | Date | readonly string[];

/** A field of a filter: the rule for the value that clients give, and what it compares, unless the store knows that. */
interface FilterField<Row> {
  /** Undefined for a value that every row matches. */
  readonly rule: Rule<never, FilterValue | undefined>;
  readonly property?: keyof Row & string;
  /** `contains`: a literal substring, without regard to case. */
  readonly comparison?: Comparison;
}

/** The filter of a list: a row must match every field that is given. */
export type FilterFields<Row = never> = Readonly<Record<string, FilterField<Row>>>;

/** A client's filter, unvalidated; null is the same as leaving a field out. */
export type FilterRequest<Fields extends FilterFields> = {
  readonly [Name in keyof Fields]?: Parameters<Fields[Name]['rule']>[0] | null | undefined;
};

/** A validated filter. An unset field doesn't filter; an empty list matches nothing. */
export type FilterOf<Fields extends FilterFields> = {
  readonly [Name in keyof Fields]?: ReturnType<Fields[Name]['rule']> | undefined;
};

/** Adds the violations to the check. */
export function parseFilter<Fields extends FilterFields>(
  fields: Fields,
  check: InputCheck,
  request: FilterRequest<Fields>,
): FilterOf<Fields> {
  const filter: Partial<Record<keyof Fields, unknown>> = {};
  for (const name in fields) {
    const value = request[name];
    if (value === null || value === undefined) continue;
    filter[name] = check.required(`filter.${name}`, value, (fields[name] as FilterFields[string]).rule);
  }
  return filter as FilterOf<Fields>;
}
