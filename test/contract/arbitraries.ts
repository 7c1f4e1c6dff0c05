import fc, { type Arbitrary } from 'fast-check';

import type { Operation, Parameter, Schema } from './document.ts';
import { withBody, type Ask } from './store.ts';

/** Any id there can be, and often one that something has. */
const id = fc.oneof(fc.bigInt({ min: 1n, max: 20n }), fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }));

/** Every character of Unicode, control characters and halves of surrogate pairs included. */
const text = (minLength = 0, maxLength = 300): Arbitrary<string> =>
  fc.oneof(
    fc.string({ unit: 'binary', minLength, maxLength }),
    fc.string({
      unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
      minLength,
      maxLength,
    }),
    fc.string({ unit: 'grapheme', minLength, maxLength }),
  );

const years = { noInvalidDate: true, min: new Date('0001-01-01T00:00:00Z'), max: new Date('9999-12-31T23:59:59.999Z') };

/** What the schema of the document allows. */
export function validValue(schema: Schema): Arbitrary<unknown> {
  const value = valueOf(schema);
  return schema.nullable === true ? fc.option(value, { freq: 5 }) : value;
}

function valueOf({ type, format, minimum, maximum, minLength, maxLength, ...schema }: Schema): Arbitrary<unknown> {
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (format === 'int64') return id;
  if (format === 'date-time') return fc.date(years).map((date) => date.toJSON());
  switch (type) {
    case 'integer':
      return fc.integer({ min: minimum as number, max: maximum as number });
    case 'boolean':
      return fc.boolean();
    case 'array':
      return fc.array(validValue(schema.items!), { maxLength: 5 });
    case 'object':
      return validObject(schema);
    default: {
      const any = text(minLength as number | undefined, maxLength as number | undefined);
      // A text with a rule of its own is hardly ever one at random.
      return schema.example === undefined ? any : fc.oneof(any, fc.constant(schema.example));
    }
  }
}

function validObject({ properties = {}, required = [], minProperties = 0 }: Schema): Arbitrary<object> {
  const fields = Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, validValue(each)]));
  return fc
    .record(fields, { requiredKeys: [...required] })
    .filter((body) => Object.keys(body).length >= Number(minProperties));
}

/** Anything that can stand in a body: like the schema, nearly like it, or not at all. */
function anyBody(schema: Schema): Arbitrary<string> {
  const wrong = fc.dictionary(fc.constantFrom(...Object.keys(schema.properties ?? {})), fc.jsonValue(), { maxKeys: 1 });
  const nearly = fc.tuple(validObject(schema), wrong).map(([body, field]) => Object.assign(body, field));
  return fc.oneof(
    validObject(schema).map(toJson),
    nearly.map(toJson),
    fc.json(),
    text(),
    fc.constantFrom('', '{', '{"name":1e999}', '{"__proto__":{"name":"Rex"}}', `{"petId":${'9'.repeat(400)}}`),
  );
}

/** Any request of an operation: its parameters as they should be or as they shouldn't. */
export function anyRequest({ method, path, parameters, body }: Operation, headers: Ask['headers']): Arbitrary<Ask> {
  const inPlace = (place: Parameter['in'], arbitraryOf: (schema: Schema) => Arbitrary<string>) => {
    const fields = parameters
      .filter((each) => each.in === place)
      .map(({ name, schema }) => [name, arbitraryOf(schema)]);
    return fc.record(Object.fromEntries(fields) as Record<string, Arbitrary<string>>, { requiredKeys: [] });
  };
  return fc
    .tuple(
      anyParameter({ type: 'integer', format: 'int64' }),
      inPlace('query', anyParameter),
      inPlace('header', () => headerText),
      body === undefined ? fc.constant(undefined) : anyBody(body),
    )
    .map(([inPath, query, given, payload]) => {
      const search = new URLSearchParams(query as Strings).toString();
      const url = `${path.replace(/\{\w+\}/, encodeURIComponent(inPath))}?${search}`;
      const request = { method, url, headers: Object.assign(given, headers) };
      return payload === undefined ? request : withText(request, payload);
    });
}

function withText(request: Ask, body: string): Ask {
  return { ...withBody(request, {}), body };
}

type Strings = Record<string, string>;

const headerText = fc.string({
  unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)),
  maxLength: 300,
});

/** Dots alone would be another path. */
function anyParameter(schema: Schema): Arbitrary<string> {
  const wellFormed = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }).filter((each) => !/^\.+$/.test(each));
  return fc.oneof(validValue(schema).map(toText), wellFormed);
}

function toText(value: unknown): string {
  return Array.isArray(value) ? value.map(String).join(',') : String(value).toWellFormed();
}

export function toJson(value: object): string {
  return JSON.stringify(value, (_key, each: unknown) => (typeof each === 'bigint' ? JSON.rawJSON(String(each)) : each));
}
