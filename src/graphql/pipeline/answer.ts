import type { GraphQLError } from 'graphql';

import { describeFailure, HttpError } from '../../http/error-table.ts';
import type { Execution } from '../prepared/operation.ts';
import { asGraphQLError, decisiveRefusal, enrichError, formatError, statusOf } from './errors.ts';

/** A response as it is sent, but for what every response has. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The codes of its errors. */
  readonly codes: readonly string[];
}

/** The response to a request that wasn't executed. */
export function refusalAnswer(error: GraphQLError): Answer {
  const refusal = decisiveRefusal([error], false);
  const { status, headers } =
    refusal === undefined ? { status: statusOf(error), headers: {} } : describeFailure(refusal);
  const { text, codes } = writeErrors([error], Number.POSITIVE_INFINITY);
  return { status, headers, body: `{"errors":${text}}\n`, codes };
}

/**
 * The response to a request that was executed: HTTP 200, whatever its fields have refused, unless the store is gone.
 *
 * Without data, it was too large. A mutation has data always: then errors are left out that there is no room for.
 */
export function executionAnswer(
  { data, errors, omittedErrors }: Execution,
  isMutation: boolean,
  maxBytes: number,
): Answer {
  if (data === undefined) return resultTooLarge(maxBytes);
  if (errors.length === 0) return { status: 200, headers: {}, body: `{"data":${data}}\n`, codes: [] };
  const room = maxBytes - Buffer.byteLength(data);
  const written = writeErrors(errors, room, omittedErrors);
  if (written.omitted > omittedErrors && !isMutation) return resultTooLarge(maxBytes);
  const refusal = decisiveRefusal(errors, true);
  const { status, headers } = refusal === undefined ? { status: 200, headers: {} } : describeFailure(refusal);
  return { status, headers, body: `{"errors":${written.text},"data":${data}}\n`, codes: written.codes };
}

function resultTooLarge(maxBytes: number): Answer {
  const message = `The response would be larger than the ${maxBytes} bytes that GRAPHQL_MAX_RESPONSE_BYTES allows: ask for fewer fields or shorter pages.`;
  return refusalAnswer(asGraphQLError(new HttpError('RESULT_TOO_LARGE', message)));
}

interface WrittenErrors {
  readonly text: string;
  readonly codes: readonly string[];
  /** How many errors are left out, those left out earlier included. */
  readonly omitted: number;
}

/** Writes as many errors as there is room for, and one more that says how many are left out. */
function writeErrors(errors: readonly GraphQLError[], room: number, omittedBefore = 0): WrittenErrors {
  const texts: string[] = [];
  const codes: string[] = [];
  let left = room;
  for (const error of errors) {
    const formatted = formatError(enrichError(error), error);
    const text = JSON.stringify(formatted);
    left -= Buffer.byteLength(text) + 1;
    if (left < 0) break;
    texts.push(text);
    codes.push(String(formatted.extensions?.['code']));
  }
  const omitted = omittedBefore + errors.length - texts.length;
  if (omitted > 0) {
    const message = `${omitted} more errors are left out.`;
    texts.push(JSON.stringify({ message, extensions: { code: 'ERRORS_OMITTED', status: 400 } }));
    codes.push('ERRORS_OMITTED');
  }
  return { text: `[${texts.join(',')}]`, codes, omitted };
}
