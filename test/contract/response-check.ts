import { Ajv2019, type ValidateFunction } from 'ajv/dist/2019.js';

import type { DocumentedResponse, Operation, Schema } from './document.ts';

/** A response as it came, its integers exact. */
export interface ReceivedResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly text: string;
}

/** What is wrong with a response by the document; nothing for a good one. */
export type ResponseCheck = (operation: Operation, response: ReceivedResponse) => string[];

const int64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n };
const formats = {
  int32: { type: 'number', validate: (value: number) => Number.isInteger(value) && Math.abs(value) <= 2 ** 31 },
  'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
  'uri-reference': (text: string) => URL.canParse(text, 'http://localhost'),
} as const;

/**
 * The check for all operations. A header that any of them documents must be documented wherever it comes, but for the
 * ignored.
 */
export function createResponseCheck(operations: readonly Operation[]): ResponseCheck {
  const ajv = new Ajv2019({ strict: false, allErrors: true, formats });
  ajv.addKeyword({
    keyword: 'int64',
    validate: (_is: true, value: unknown) =>
      (typeof value === 'bigint' || Number.isSafeInteger(value)) &&
      BigInt(value as number) >= int64.min &&
      BigInt(value as number) <= int64.max,
  });
  const compiled = new Map<Schema, ValidateFunction>();
  const problemsOf = (schema: Schema, value: unknown, path: string): string[] => {
    const validate = compiled.get(schema) ?? ajv.compile(jsonSchemaOf(schema));
    compiled.set(schema, validate);
    return validate(value) ? [] : [`${path}: ${ajv.errorsText(validate.errors)} in ${describe(value)}`];
  };
  const known = new Set(
    operations.flatMap(({ responses }) => Object.values(responses).flatMap(({ headers = {} }) => Object.keys(headers))),
  );
  return ({ responses }, response) => {
    const documented = responses[response.status];
    if (documented === undefined) return [`the status ${response.status} is not documented: ${response.text}`];
    return [
      ...headerProblems(documented, response, known, problemsOf),
      ...bodyProblems(documented, response, problemsOf),
    ];
  };
}

type Problems = (schema: Schema, value: unknown, path: string) => string[];

function headerProblems(
  { headers: documented = {} }: DocumentedResponse,
  { headers }: ReceivedResponse,
  known: ReadonlySet<string>,
  problemsOf: Problems,
): string[] {
  return [...known].flatMap((name) => {
    const [header, value] = [documented[name], headers[name.toLowerCase()]];
    if (value === undefined) return header?.required === true ? [`the header ${name} is missing`] : [];
    if (header === undefined) return [`the header ${name} is not documented`];
    return problemsOf(header.schema, header.schema.type === 'integer' ? Number(value) : value, name);
  });
}

function bodyProblems(
  { content }: DocumentedResponse,
  { headers, text }: ReceivedResponse,
  problemsOf: Problems,
): string[] {
  const type = headers['content-type'];
  if (content === undefined) return text === '' && type === undefined ? [] : [`there is a body: ${type} ${text}`];
  const [mediaType = ''] = type?.split(';') ?? [];
  const schema = content[mediaType]?.schema;
  return schema === undefined ? [`the type ${type} is not documented`] : problemsOf(schema, parseExactly(text), 'body');
}

/** Integers that a double can't keep come as a bigint. */
export function parseExactly(text: string): unknown {
  return JSON.parse(text, (_key, value: unknown, context?: { readonly source?: string }) =>
    typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)
      ? BigInt(context?.source ?? '')
      : value,
  );
}

/** OpenAPI 3.0's schema as a JSON Schema that takes no property which isn't documented. */
function jsonSchemaOf(schema: Schema): object {
  return isObject(schema) ? { ...partOf(schema), unevaluatedProperties: false } : partOf(schema);
}

function partOf({ type, format, nullable, items, properties, allOf, example: _example, ...rest }: Schema): object {
  if (type === 'integer' && format === 'int64') return { int64: true };
  return {
    ...rest,
    ...(type === undefined ? {} : { type: nullable === true ? [type, 'null'] : type }),
    ...(format === undefined ? {} : { format }),
    ...(items === undefined ? {} : { items: jsonSchemaOf(items) }),
    ...(allOf === undefined ? {} : { allOf: allOf.map(partOf) }),
    ...(properties === undefined
      ? {}
      : { properties: Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, partOf(each)])) }),
  };
}

function isObject({ type, allOf }: Schema): boolean {
  return type === 'object' || allOf !== undefined;
}

function describe(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) => (typeof each === 'bigint' ? `${each}n` : each));
}
