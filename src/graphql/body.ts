import { HttpError } from '../http/error-table.ts';

/** Numbers of this many digits may not survive as a JavaScript number. */
const longNumber = /\d{16}/;

/**
 * Parses the body of a GraphQL request.
 *
 * Whole numbers beyond 2^53 become strings of the same digits, so that an id sent as a JSON number stays exact.
 */
export function parseGraphQLBody(text: string): unknown {
  try {
    return longNumber.test(text) ? JSON.parse(text, keepExact) : JSON.parse(text);
  } catch {
    throw new HttpError('BAD_REQUEST', 'The body is not valid JSON.');
  }
}

function keepExact(_key: string, value: unknown, context?: { source?: string }): unknown {
  const isInexact = typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source ?? '');
  return isInexact ? context?.source : value;
}
