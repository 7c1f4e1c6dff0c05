import { quoted, validationFailed, type Violation } from '../domain/errors.ts';
import { parseId } from '../domain/id.ts';
import type { RestParameter, Schema } from './openapi/document.ts';
import { cursorRules } from './domain-rules.ts';
import { compileStructure } from './schema-check.ts';

type QueryParameters = Readonly<Record<string, string | readonly string[]>>;

/** Reads the parameters of a query; throws VALIDATION_FAILED that names every one that is wrong. */
export type QueryReader = (query: QueryParameters) => object;

const canonicalInteger = /^(?:0|-?[1-9]\d{0,14})$/;

/**
 * Compiles what the document says about an operation's query.
 *
 * Unknown parameters are ignored. A known one must be given once, unless it is a list: `id=1&id=2` is `id=1,2`. Other
 * spellings of lists, such as `id[]=1`, are refused: ignoring them would select other rows than the client means.
 */
export function compileQuery(parameters: readonly RestParameter[]): QueryReader {
  const known = parameters.filter((parameter) => parameter.in === 'query');
  const check = compileStructure({
    type: 'object',
    properties: Object.fromEntries(
      known.filter(({ schema }) => !isCursor(schema)).map(({ name, schema }) => [name, schema]),
    ),
  });
  return (query) => {
    const values: Record<string, unknown> = {};
    const violations: Violation[] = misspelled(known, query);
    for (const { name, schema } of known) {
      const given = query[name];
      if (given === undefined) continue;
      if (typeof given !== 'string' && schema.items === undefined) {
        violations.push({ field: name, message: 'must be given once only.' });
      } else {
        values[name] = valueOf(String(given), schema, (message) => violations.push({ field: name, message }));
      }
    }
    violations.push(...check(values));
    if (violations.length > 0) throw validationFailed(inOrderOf(known, violations));
    return values;
  };
}

/** The value that a text stands for. One that isn't of the schema's type stays a text, and the schema refuses it. */
function valueOf(text: string, { type, format, items }: Schema, refuse: (problem: string) => void): unknown {
  if (items !== undefined) return text.split(',').map((item) => valueOf(item, items, refuse));
  const cursorRule = cursorRules[format ?? ''];
  if (cursorRule !== undefined) return cursorRule(text, refuse);
  if (type !== 'integer') return text;
  if (format === 'int64') return parseId(text) === undefined ? text : BigInt(text);
  return canonicalInteger.test(text) ? Number(text) : text;
}

function isCursor({ format }: Schema): boolean {
  return format !== undefined && format in cursorRules;
}

/** Names such as `id[]` and `status[0]`: other services take them for a list. */
function misspelled(known: readonly RestParameter[], query: QueryParameters): Violation[] {
  const bracketed = Object.keys(query).filter((name) => name.includes('['));
  if (bracketed.length === 0) return [];
  return known.flatMap(({ name, schema }) => {
    const found = bracketed.find((each) => each.startsWith(`${name}[`));
    if (found === undefined) return [];
    const right = schema.items === undefined ? `${name}=VALUE` : `${name}=1,2 or ${name}=1&${name}=2`;
    return [{ field: name, message: `must be written ${right}, not ${quoted(found)}.` }];
  });
}

/** One violation for each parameter, the first that was found, in the document's order. */
function inOrderOf(known: readonly RestParameter[], violations: readonly Violation[]): Violation[] {
  return known.flatMap(({ name }) => violations.find(({ field }) => field === name) ?? []);
}
