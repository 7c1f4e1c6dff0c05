import { HttpError } from '../../http/error-table.ts';

/** Numbers of this many digits may not survive as a JavaScript number. */
const longNumber = /\d{16}/;

/** Parses the body of a GraphQL request; throws BAD_REQUEST. */
export function parseGraphQLBody(text: string): unknown {
  try {
    return parseExactly(text);
  } catch {
    throw new HttpError('BAD_REQUEST', 'The body is not valid JSON.');
  }
}

/** The query string with ids in `variables` kept exact; what isn't JSON there is Apollo's to refuse. */
export function exactSearch(url: string): string {
  const start = url.indexOf('?');
  const search = start === -1 ? '' : url.slice(start);
  if (!longNumber.test(search)) return search;
  const parameters = new URLSearchParams(search);
  const [variables, ...others] = parameters.getAll('variables');
  if (variables === undefined || others.length > 0) return search;
  try {
    parameters.set('variables', JSON.stringify(parseExactly(variables)));
  } catch {
    return search;
  }
  return `?${parameters.toString()}`;
}

/** Whole numbers beyond 2^53 become strings of the same digits, so that an id sent as a JSON number stays exact. */
function parseExactly(text: string): unknown {
  return longNumber.test(text) ? JSON.parse(text, keepExact) : JSON.parse(text);
}

function keepExact(_key: string, value: unknown, context?: { source?: string }): unknown {
  const isInexact = typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source ?? '');
  return isInexact ? context?.source : value;
}
