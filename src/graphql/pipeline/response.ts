import type { GraphQLError } from 'graphql';

import { describeFailure, HttpError } from '../../http/error-table.ts';
import type { Execution } from '../prepared/operation.ts';
import { asGraphQLError, decisiveRefusal, enrichError, formatError, statusOf } from './errors.ts';

/** A response, without the headers that every response has. */
export interface GraphQLResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The codes of its errors. */
  readonly codes: readonly string[];
}

/** The response to a request that wasn't executed. */
export function refusalResponse(error: GraphQLError): GraphQLResponse {
  const refusal = decisiveRefusal([error], false);
  const { status, headers } =
    refusal === undefined ? { status: statusOf(error), headers: {} } : describeFailure(refusal);
  const { text, codes } = writeErrors([error], Number.POSITIVE_INFINITY);
  return { status, headers, body: `{"errors":${text}}\n`, codes };
}

/**
 * The response to a request that was executed: HTTP 200 even with field errors, unless the database is unavailable.
 *
 * Without data, it was too large. A mutation always has data: errors that don't fit are omitted.
 */
export function executionResponse(
  { data, errors, omittedErrors }: Execution,
  isMutation: boolean,
  maxBytes: number,
): GraphQLResponse {
  if (data === undefined) return resultTooLarge(maxBytes);
  if (errors.length === 0) return { status: 200, headers: {}, body: `{"data":${data}}\n`, codes: [] };
  const room = maxBytes - Buffer.byteLength(data);
  const written = writeErrors(errors, room, omittedErrors);
  if (written.omitted > omittedErrors && !isMutation) return resultTooLarge(maxBytes);
  const refusal = decisiveRefusal(errors, true);
  const { status, headers } = refusal === undefined ? { status: 200, headers: {} } : describeFailure(refusal);
  return { status, headers, body: `{"errors":${written.text},"data":${data}}\n`, codes: written.codes };
}

function resultTooLarge(maxBytes: number): GraphQLResponse {
  const message = `The response would be larger than the ${maxBytes} bytes that GRAPHQL_MAX_RESPONSE_BYTES allows: ask for fewer fields or shorter pages.`;
  return refusalResponse(asGraphQLError(new HttpError('RESULT_TOO_LARGE', message)));
}

interface WrittenErrors {
  readonly text: string;
  readonly codes: readonly string[];
  /** The number of omitted errors, including those omitted during execution. */
  readonly omitted: number;
}

/** Writes as many errors as fit, and one more with the number of omitted ones. */
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
