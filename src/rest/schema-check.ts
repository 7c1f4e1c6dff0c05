import { Ajv, type ErrorObject } from 'ajv';

import type { Violation } from '../domain/errors.ts';
import { parseId } from '../domain/id.ts';
import type { Rule } from '../domain/input.ts';
import { cursorProblem } from '../domain/page.ts';
import { categorySorting } from '../domain/categories/category.reads.ts';
import { inventorySorting } from '../domain/inventory/inventory-item.reads.ts';
import { orderSorting } from '../domain/orders/order.reads.ts';
import { petSorting } from '../domain/pets/pet.reads.ts';
import { descriptionRule, instantRule, nameRule } from '../domain/rules.ts';
import type { Schema } from './document.ts';

/** What is wrong with a value, field by field. An int64 in it is replaced by its digits. */
export type SchemaCheck = (value: object) => readonly Violation[];

/** The document's formats that the domain has a rule for: answers the problem, or undefined. */
const formatProblems: Readonly<Record<string, (text: string) => string | undefined>> = {
  name: problemBy(nameRule),
  text: problemBy(descriptionRule),
  'date-time': problemBy(instantRule),
  ...Object.fromEntries(
    [petSorting, categorySorting, orderSorting, inventorySorting].map((sorting) => [
      `${sorting.kind}-cursor`,
      (text: string) => cursorProblem(sorting, text),
    ]),
  ),
};

const ajv = new Ajv({
  allErrors: true,
  verbose: true,
  // The schemas are those of the document, which `npm run check` has checked: looking again takes a third of the time that compiling takes.
  meta: false,
  validateSchema: false,
  formats: {
    int32: true,
    ...Object.fromEntries(
      Object.entries(formatProblems).map(([name, problem]) => [name, (text: string) => problem(text) === undefined]),
    ),
  },
});
ajv.addVocabulary(['example']);
// Ajv says that a bigint is no integer, so int64 is a keyword of its own; its value says whether null is fine too.
ajv.addKeyword({
  keyword: 'int64',
  modifying: true,
  errors: false,
  validate: (
    isNullable: boolean,
    value: unknown,
    _schema: unknown,
    place?: { parentData: object; parentDataProperty: string | number },
  ) => {
    if (value === null) return isNullable;
    const id = typeof value === 'bigint' || isSafeInteger(value) ? parseId(String(value)) : undefined;
    if (id !== undefined && place !== undefined) Object.assign(place.parentData, { [place.parentDataProperty]: id });
    return id !== undefined;
  },
});
// `minProperties` would count unknown fields, which change nothing.
ajv.addKeyword({
  keyword: 'someOf',
  errors: false,
  validate: (names: readonly string[], value: object) => names.some((name) => Object.hasOwn(value, name)),
});

function isSafeInteger(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

export function compileSchema(schema: Schema): SchemaCheck {
  const validate = ajv.compile(prepare(schema));
  return (value) => (validate(value) ? [] : violationsOf(validate.errors ?? []));
}

/** Keywords that say what a rule of the domain says, too. */
const domainKeywords = new Set(['format', 'minimum', 'maximum']);

/**
 * The check of a body. One that only breaks rules of the domain passes: the service refuses it, and names in the same breath
 * what only the service can know, such as a category that doesn't exist.
 */
export function compileBody(schema: Schema): SchemaCheck {
  const validate = ajv.compile(prepare(schema));
  return (value) => {
    const errors = validate(value) ? [] : (validate.errors ?? []);
    return errors.every(({ keyword }) => domainKeywords.has(keyword)) ? [] : violationsOf(errors);
  };
}

function violationsOf(errors: readonly ErrorObject[]): Violation[] {
  const violations = errors.map(violationOf);
  return [...new Map(violations.map((violation) => [violation.field, violation])).values()];
}

/** OpenAPI's schema in the words of the keywords above. */
function prepare(schema: Schema): Schema {
  const { type, format, nullable = false, minProperties, properties, items, ...rest } = schema;
  if (type === 'integer' && format === 'int64') return { int64: nullable };
  if (format !== undefined && format in formatProblems) return { type: 'string', format, nullable };
  return {
    ...rest,
    type,
    ...(format === undefined ? {} : { format }),
    ...(nullable ? { nullable } : {}),
    ...(minProperties === undefined ? {} : { someOf: Object.keys(properties ?? {}) }),
    ...(items === undefined ? {} : { items: prepare(items) }),
    ...(properties === undefined
      ? {}
      : { properties: Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, prepare(each)])) }),
  } as Schema;
}

function violationOf({ keyword, instancePath, params, parentSchema = {}, data }: ErrorObject): Violation {
  const { missingProperty } = params as { readonly missingProperty?: string };
  const field = missingProperty ?? instancePath.split('/')[1] ?? 'body';
  return { field, message: problemOf(keyword, parentSchema, data) };
}

function problemOf(keyword: string, schema: Schema, value: unknown): string {
  switch (keyword) {
    case 'required':
      return 'is missing.';
    case 'someOf':
      return `changes nothing: give at least one of ${(schema['someOf'] as string[]).join(', ')}.`;
    case 'format':
      return formatProblems[schema.format ?? '']?.(String(value)) ?? '';
    case 'maxItems':
      return `must have at most ${String(schema['maxItems'])} items, not ${(value as unknown[]).length}.`;
    case 'maxLength':
    case 'minLength':
      return `must have ${String(schema['minLength'])} to ${String(schema['maxLength'])} characters, not ${String(value).length}.`;
    default:
      return `must be ${expected(schema)}, not ${describe(value)}.`;
  }
}

function expected({ type, minimum, maximum, ...schema }: Schema): string {
  if ('enum' in schema) return `one of ${(schema['enum'] as string[]).join(', ')}`;
  if ('int64' in schema) return `a whole number from ${-(2n ** 63n)} to ${2n ** 63n - 1n}`;
  if (type === 'integer') return `a whole number from ${minimum} to ${maximum}`;
  return type === 'boolean' ? 'true or false' : `${type === 'object' || type === 'array' ? 'an' : 'a'} ${type}`;
}

function describe(value: unknown): string {
  const text = JSON.stringify(value, (_key, each: unknown) =>
    typeof each === 'bigint' ? JSON.rawJSON(String(each)) : each,
  );
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

function problemBy<Kept>(rule: Rule<string, Kept>): (text: string) => string | undefined {
  return (text) => {
    let found: string | undefined;
    rule(text, (problem) => {
      found ??= problem;
    });
    return found;
  };
}
