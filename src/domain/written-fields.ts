import type { Id } from './id.ts';
import type { InputCheck, Rule } from './input.ts';
import { referenceRule, type Reference } from './reference.ts';

interface WrittenField<Raw, Stored, Unset> {
  readonly rule: Rule<Raw, Stored>;
  /** The value of a new row without one: undefined where one is required, null where a change can remove it. */
  readonly unset: Unset;
  readonly reference?: Reference;
}

/** Any of them: `rule` is a method, so that the fields of all types have a common type. */
interface AnyField {
  rule(this: void, value: unknown, refuse: (problem: string) => void): unknown;
  readonly unset: unknown;
  readonly reference?: Reference;
}

/** The fields of a noun that clients write, in creations and in changes alike. */
export type WrittenFields = Readonly<Record<string, AnyField>>;

type RawOf<Field extends WrittenFields[string]> = Parameters<Field['rule']>[0];
type StoredOf<Field extends WrittenFields[string]> =
  ReturnType<Field['rule']> | (Field['unset'] extends null ? null : never);

/** A creation, unvalidated. */
export type NewOf<Fields extends WrittenFields> = {
  readonly [Name in keyof Fields as Fields[Name]['unset'] extends undefined ? Name : never]: RawOf<Fields[Name]>;
} & {
  readonly [Name in keyof Fields as Fields[Name]['unset'] extends undefined ? never : Name]?:
    RawOf<Fields[Name]> | null | undefined;
};

/** A change, unvalidated: an undefined property stays unchanged. */
export type ChangesOf<Fields extends WrittenFields> = {
  readonly [Name in keyof Fields]?: RawOf<Fields[Name]> | null | undefined;
};

export type CreatedOf<Fields extends WrittenFields> = { readonly [Name in keyof Fields]: StoredOf<Fields[Name]> };
export type ChangedOf<Fields extends WrittenFields> = Partial<CreatedOf<Fields>>;

export function required<Raw, Stored>(rule: Rule<Raw, Stored>): WrittenField<Raw, Stored, undefined> {
  return { rule, unset: undefined };
}

export function optional<Raw, Stored>(rule: Rule<Raw, Stored>): WrittenField<Raw, Stored, null> {
  return { rule, unset: null };
}

export function withDefault<Value>(rule: Rule<Value, Value>, unset: Value): WrittenField<Value, Value, Value> {
  return { rule, unset };
}

/** The row that is referred to must exist. */
export function refersTo(reference: Reference): WrittenField<string, Id, undefined> {
  return { ...required(referenceRule(reference)), reference };
}

export function mayReferTo(reference: Reference): WrittenField<string, Id, null> {
  return { ...optional(referenceRule(reference)), reference };
}

/** The row of a creation; adds the violations to the check. */
export function parseNew<Fields extends WrittenFields>(
  fields: Fields,
  check: InputCheck,
  input: NewOf<Fields>,
): CreatedOf<Fields> {
  const data: Record<string, unknown> = {};
  const given: Readonly<Record<string, unknown>> = input;
  for (const name in fields) {
    const { rule, unset } = fields[name] as AnyField;
    const value = given[name];
    data[name] = unset === undefined ? check.required(name, value, rule) : (check.optional(name, value, rule) ?? unset);
  }
  return data as CreatedOf<Fields>;
}

/** At least one field must be given; equal values are fine. Null removes the value of an optional field. */
export function parseChanges<Fields extends WrittenFields>(
  fields: Fields,
  check: InputCheck,
  changes: ChangesOf<Fields>,
): ChangedOf<Fields> {
  const data: Record<string, unknown> = {};
  for (const name in fields) {
    const { rule, unset } = fields[name] as AnyField;
    const value: unknown = changes[name];
    if (value === null && unset !== null)
      check.refuse(name, 'must not be null: leave it out to keep the value that it has.');
    const changed = value === null && unset === null ? null : check.optional(name, value, rule);
    if (changed !== undefined) data[name] = changed;
  }
  if (!check.hasRefused && Object.keys(data).length === 0)
    check.refuse('input', 'changes nothing: give at least one field to change.');
  return data as ChangedOf<Fields>;
}
