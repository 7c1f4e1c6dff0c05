import type { Violation } from '../domain/errors.ts';
import { parseId } from '../domain/id.ts';
import type { Schema } from './openapi/document.ts';
import { assertKnownFormat, domainProblem } from './domain-rules.ts';

/** Finds what is wrong with an object, field by field. Replaces every int64 in it by an `Id`. */
export type SchemaCheck = (value: Record<string, unknown>) => readonly Violation[];

const none: readonly Violation[] = [];

/** A violation of the whole, in place of one of its fields. */
const wholeBody = 'body';

/**
 * Compiles the check of an object's structure: types, required fields, choices, and bounds unless `withBounds` is
 * false. Its properties are values or lists of values, which is all that the document has.
 */
export function compileStructure(schema: Schema, { withBounds = true } = {}): SchemaCheck {
  const { properties = {}, required = [], minProperties } = schema;
  const fields = Object.entries(properties);
  return (values) => {
    const violations: Violation[] = [];
    for (const [field, property] of fields) {
      const message =
        values[field] === undefined
          ? required.includes(field) && 'is missing.'
          : problemAt(values, field, property, withBounds);
      if (message) violations.push({ field, message });
    }
    // Unknown fields don't count: they change nothing.
    if (minProperties !== undefined && !fields.some(([name]) => values[name] !== undefined)) {
      const message = `changes nothing: give at least one of ${Object.keys(properties).join(', ')}.`;
      violations.push({ field: wholeBody, message });
    }
    return violations.length === 0 ? none : violations;
  };
}

/**
 * Compiles the check of a body, which is one of structure: lengths, bounds and formats are the services' to check. When
 * the structure is wrong, the violations include those that the services would have found.
 */
export function compileBody(schema: Schema): SchemaCheck {
  const checkStructure = compileStructure(schema, { withBounds: false });
  const properties = Object.entries(schema.properties ?? {});
  for (const [name, property] of properties) assertKnownFormat(property, name);
  return (body) => {
    const structural = checkStructure(body);
    if (structural.length === 0) return structural;
    const others = properties.flatMap(([field, property]) => {
      const message = domainProblem(property, body[field]);
      return message === undefined ? [] : { field, message };
    });
    return inOrderOf([...properties.map(([name]) => name), wholeBody], [...structural, ...others]);
  };
}

/** One violation for each field, the first that was found, in the order of the names. */
export function inOrderOf(names: readonly string[], violations: readonly Violation[]): Violation[] {
  return names.flatMap((name) => violations.find(({ field }) => field === name) ?? []);
}

/** What is wrong with the value at this key of an object or list. Of several items the last one is named. */
function problemAt<Key extends string | number>(
  place: Record<Key, unknown>,
  key: Key,
  schema: Schema,
  withBounds: boolean,
): string | undefined {
  const { format, nullable, items, maxItems = Infinity } = schema;
  const value = place[key];
  if (value === null && nullable === true) return undefined;
  if (format === 'int64') {
    const id = isExactInteger(value) ? parseId(String(value)) : undefined;
    if (id !== undefined) place[key] = id;
    return id === undefined ? misfit(schema, value) : undefined;
  }
  if (items === undefined || !Array.isArray(value)) {
    return isAllowed(schema, value, withBounds) ? undefined : misfit(schema, value);
  }
  const list: unknown[] = value;
  let problem = list.length > maxItems ? `must have at most ${maxItems} items, not ${list.length}.` : undefined;
  for (const index of list.keys()) problem = problemAt(list, index, items, withBounds) ?? problem;
  return problem;
}

function isExactInteger(value: unknown): value is number | bigint {
  return typeof value === 'bigint' || Number.isSafeInteger(value);
}

function isAllowed(
  { type, enum: choices, minimum = -Infinity, maximum = Infinity }: Schema,
  value: unknown,
  withBounds: boolean,
): boolean {
  if (choices !== undefined) return choices.includes(value);
  if (type !== 'integer') return typeof value === type;
  return Number.isInteger(value) && (!withBounds || (Number(value) >= minimum && Number(value) <= maximum));
}

function misfit(schema: Schema, value: unknown): string {
  return `must be ${expected(schema)}, not ${describe(value)}.`;
}

function expected({ type, format, minimum, maximum, enum: choices }: Schema): string {
  if (choices !== undefined) return `one of ${choices.join(', ')}`;
  if (format === 'int64') return `a whole number from ${-(2n ** 63n)} to ${2n ** 63n - 1n}`;
  if (type === 'integer') return `a whole number from ${minimum} to ${maximum}`;
  return type === 'boolean' ? 'true or false' : `a ${type}`;
}

/** Nested values aren't written out: they can be of any depth. */
function describe(value: unknown): string {
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object' && value !== null && !JSON.isRawJSON(value)) return 'an object';
  const text = typeof value === 'bigint' ? String(value) : JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
