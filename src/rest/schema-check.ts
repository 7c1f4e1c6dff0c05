import { Ajv, type ErrorObject } from 'ajv';

import type { Violation } from '../domain/errors.ts';
import { parseId } from '../domain/id.ts';
import type { Schema } from './openapi/document.ts';
import { assertKnownFormat, domainProblem } from './domain-rules.ts';

/** Finds what is wrong with an object, field by field. Replaces every int64 in it by an `Id`. */
export type SchemaCheck = (value: object) => readonly Violation[];

const none: readonly Violation[] = [];

const ajv = new Ajv({
  allErrors: true,
  verbose: true,
  // `npm run check` has checked the document's schemas; checking them again takes a third of the time that compiling
  // takes.
  meta: false,
  validateSchema: false,
});
ajv.addVocabulary(['example']);
// Ajv says that a bigint is no integer, so int64 is a keyword of our own; its value says whether null is allowed.
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
    const id = isExactInteger(value) ? parseId(String(value)) : undefined;
    if (id !== undefined && place !== undefined) Reflect.set(place.parentData, place.parentDataProperty, id);
    return id !== undefined;
  },
});
// `minProperties` would count unknown fields, which change nothing.
ajv.addKeyword({
  keyword: 'someOf',
  errors: false,
  validate: (names: readonly string[], value: object) => names.some((name) => Object.hasOwn(value, name)),
});

function isExactInteger(value: unknown): value is number | bigint {
  return typeof value === 'bigint' || Number.isSafeInteger(value);
}

/** Types, required fields, choices, and bounds unless `withBounds` is false. */
export function compileStructure(schema: Schema, { withBounds = true } = {}): SchemaCheck {
  const validate = ajv.compile(structureOf(schema, withBounds));
  return (value) => {
    if (validate(value)) return none;
    const violations = (validate.errors ?? []).map((error) => violationOf(error, schema));
    return [...new Map(violations.map((violation) => [violation.field, violation])).values()];
  };
}

/** Lengths, bounds and formats are the services' to check; theirs are included where the structure is wrong. */
export function compileBody(schema: Schema): SchemaCheck {
  const checkStructure = compileStructure(schema, { withBounds: false });
  const properties = Object.entries(schema.properties ?? {});
  for (const [name, property] of properties) assertKnownFormat(property, name);
  return (body) => {
    const structural = checkStructure(body);
    if (structural.length === 0) return structural;
    const others = structural.filter(({ field }) => !properties.some(([name]) => name === field));
    const fields = body as Readonly<Record<string, unknown>>;
    return properties
      .flatMap(([name, property]) => {
        const message = domainProblem(property, fields[name]);
        return (
          structural.find(({ field }) => field === name) ?? (message === undefined ? [] : { field: name, message })
        );
      })
      .concat(others);
  };
}

/** OpenAPI's schema in Ajv's keywords and the two above. */
function structureOf(schema: Schema, withBounds: boolean): Schema {
  const { type, format, nullable = false, minimum, maximum, minProperties, properties, items } = schema;
  if (type === 'integer' && format === 'int64') return { int64: nullable };
  const structure = {
    type,
    nullable: nullable ? true : undefined,
    enum: schema['enum'],
    required: schema['required'],
    maxItems: schema['maxItems'],
    ...(withBounds ? { minimum, maximum } : {}),
    someOf: minProperties === undefined ? undefined : Object.keys(properties ?? {}),
    items: items && structureOf(items, withBounds),
    properties:
      properties &&
      Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, structureOf(each, withBounds)])),
  };
  return Object.fromEntries(Object.entries(structure).filter(([, value]) => value !== undefined));
}

function violationOf({ keyword, instancePath, params, data }: ErrorObject, schema: Schema): Violation {
  const { missingProperty } = params as { readonly missingProperty?: string };
  const [, name, item] = instancePath.split('/');
  const property = schema.properties?.[name ?? ''] ?? schema;
  const message = problemOf(keyword, (item === undefined ? undefined : property.items) ?? property, data);
  return { field: missingProperty ?? name ?? 'body', message };
}

function problemOf(keyword: string, schema: Schema, value: unknown): string {
  switch (keyword) {
    case 'required':
      return 'is missing.';
    case 'someOf':
      return `changes nothing: give at least one of ${Object.keys(schema.properties ?? {}).join(', ')}.`;
    case 'maxItems':
      return `must have at most ${String(schema['maxItems'])} items, not ${(value as unknown[]).length}.`;
    default:
      return `must be ${expected(schema)}, not ${describe(value)}.`;
  }
}

function expected({ type, format, minimum, maximum, ...schema }: Schema): string {
  if ('enum' in schema) return `one of ${(schema['enum'] as string[]).join(', ')}`;
  if (format === 'int64') return `a whole number in digits, from ${-(2n ** 63n)} to ${2n ** 63n - 1n}`;
  if (type === 'integer') return `a whole number from ${minimum} to ${maximum}`;
  return type === 'boolean' ? 'true or false' : `${type === 'object' || type === 'array' ? 'an' : 'a'} ${type}`;
}

/** Nested values aren't written out: they can be of any depth. */
function describe(value: unknown): string {
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object' && value !== null && !JSON.isRawJSON(value)) return 'an object';
  const text = typeof value === 'bigint' ? String(value) : JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
