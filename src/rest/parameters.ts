import { validationFailed, type Violation } from '../domain/errors.ts';
import { parseId } from '../domain/id.ts';
import type { Parameter, Schema } from './document.ts';
import { compileSchema } from './schema-check.ts';

/** Reads the parameters of a query as the document wants them; throws VALIDATION_FAILED with every one that is wrong. */
export type QueryReader = (query: Readonly<Record<string, string | string[]>>) => object;

const canonicalInteger = /^(?:0|-?[1-9]\d{0,14})$/;

/** Parameters that the document doesn't know are passed over; one that it knows must not come twice. */
export function compileQuery(parameters: readonly Parameter[]): QueryReader {
  const known = parameters.filter((parameter) => parameter.in === 'query');
  const check = compileSchema({
    type: 'object',
    properties: Object.fromEntries(known.map(({ name, schema }) => [name, schema])),
  });
  return (query) => {
    const values: Record<string, unknown> = {};
    const repeated: Violation[] = [];
    for (const { name, schema } of known) {
      const given = query[name];
      if (Array.isArray(given)) repeated.push({ field: name, message: 'must be given once only.' });
      else if (given !== undefined) values[name] = valueOf(given, schema);
    }
    const violations = [...repeated, ...check(values)];
    if (violations.length > 0) throw validationFailed(violations);
    return values;
  };
}

/** The value that the text spells; a text that spells none of its type stays as it is, and is refused for that. */
function valueOf(text: string, { type, format, items }: Schema): unknown {
  if (items !== undefined) return text.split(',').map((item) => valueOf(item, items));
  if (type !== 'integer') return text;
  if (format === 'int64') return parseId(text) === undefined ? text : BigInt(text);
  return canonicalInteger.test(text) ? Number(text) : text;
}
