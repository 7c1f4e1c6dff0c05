import { ApolloServerErrorCode } from '@apollo/server/errors';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { GraphQLError, type OperationTypeNode } from 'graphql';

import { bytesOf, type Execution, type JsonText, PayloadTooLarge } from '../../platform/executor/index.ts';
import { describeFailure, type Failure, HttpError } from '../../http/error-table.ts';
import { graphqlTypes } from '../../http/failure-response.ts';
import { preferredType, sendChunks } from '../../platform/http/index.ts';
import { eventStreamContentType, namesEventStream, singleEvent } from '../streams/framing.ts';
import { asGraphQLError, decisiveRefusal, formatError, refusalHead } from './errors.ts';
import type { Measure } from './measures.ts';

/** A response, without the headers that every response has. */
export interface GraphQLResponse {
  /** The status that GraphQL over HTTP (its first edition, section 6.4) has for it. */
  readonly status: number;
  /** It is 200, and has no `Retry-After`, under `application/json`: some of its clients read no other response. */
  readonly isOkInJson?: boolean;
  readonly headers: Readonly<Record<string, string>>;
  /** The parts of a large result that are sent before `body`. */
  readonly chunks: readonly Buffer[];
  readonly body: string;
  readonly codes: readonly string[];
}

/** Sends a stream of one result where that is asked for, or where its client accepts nothing else. */
export function sendGraphQLResponse(
  request: FastifyRequest,
  reply: FastifyReply,
  { status, isOkInJson, headers, chunks, body }: GraphQLResponse,
  asEvent?: boolean,
): void {
  const { accept } = request.headers;
  const negotiated = preferredType(accept, graphqlTypes);
  const isEvent =
    asEvent ?? (negotiated === undefined && (status <= 299 || status === 400) && namesEventStream(accept));
  const type = negotiated ?? graphqlTypes[0];
  const sentStatus = isEvent || (isOkInJson && type === 'application/json') ? 200 : status;
  if (sentStatus === partialSuccess) reply.raw.statusMessage = 'Partial Success';
  void reply
    .code(sentStatus)
    .header('content-type', isEvent ? eventStreamContentType : `${type}; charset=utf-8`)
    .header('cache-control', 'no-store')
    .headers(headers);
  if (sentStatus === 200) void reply.removeHeader('retry-after');
  const { start, end } = singleEvent;
  sendChunks(request, reply, isEvent ? [start, ...chunks, body.trimEnd(), end] : [...chunks, body]);
}

/** The response to a request that wasn't executed; the first error decides its status. */
export function refusalResponse(error: GraphQLError, ...others: readonly GraphQLError[]): GraphQLResponse {
  return withoutData(refusalHead(error), writeErrors([error, ...others], Number.POSITIVE_INFINITY));
}

/** `data` with `errors` beside it: a status of GraphQL over HTTP itself, for its own media type alone. */
const partialSuccess = 294;

/**
 * The response to a request that was executed: its data, also with field errors beside it. When the database is
 * unavailable, nothing of it is shown unless a root field has a value, or one of a mutation was carried out: clients
 * repeat such a request.
 *
 * Without data, it was too large. A mutation always has data, and the errors of its root fields: of the others those
 * that don't fit are omitted.
 */
export function executionResponse(
  { data, errors, omittedErrors }: Execution,
  isMutation: boolean,
  maxBytes: number,
  { executedFields }: Pick<Measure, 'executedFields'>,
): GraphQLResponse {
  if (data === undefined) return resultTooLarge(maxBytes);
  if (errors.length === 0) return { status: 200, headers: {}, ...bodyOf('{"data":', data), codes: [] };
  const written = writeErrors(errors, maxBytes - bytesOf(data), omittedErrors, isMutation);
  const refusal = decisiveRefusal(errors, true);
  if (refusal !== undefined && !(isMutation ? isAnyCarriedOut(errors, executedFields.length) : hasValue(data)))
    return withoutData(describeFailure(refusal), written);
  if (written.omitted > omittedErrors && !isMutation) return resultTooLarge(maxBytes);
  const { text, codes, retryAfter } = written;
  const headers = retryAfter === 0 ? {} : { 'retry-after': String(retryAfter) };
  return { status: partialSuccess, isOkInJson: true, headers, ...bodyOf(`{"errors":${text},"data":`, data), codes };
}

function withoutData(
  { status, headers }: Pick<Failure, 'status' | 'headers'>,
  { text, codes }: WrittenErrors,
): GraphQLResponse {
  return { status, headers, chunks: [], body: `{"errors":${text}}\n`, codes };
}

/** Whether a root field has a value. What is long enough for chunks has one. */
function hasValue({ chunks, text }: JsonText): boolean {
  if (chunks.length > 0) return true;
  const data = JSON.parse(text) as Record<string, unknown> | null;
  return Object.values(data ?? {}).some((value) => value !== null);
}

function bodyOf(start: string, { chunks, text }: JsonText): Pick<GraphQLResponse, 'chunks' | 'body'> {
  return chunks.length === 0
    ? { chunks, body: `${start}${text}}\n` }
    : { chunks: [Buffer.from(start), ...chunks], body: `${text}}\n` };
}

/** Whether a root field of a mutation has no error of its own, but for one about its payload. */
function isAnyCarriedOut(errors: readonly GraphQLError[], fieldCount: number): boolean {
  const refused = errors.filter(
    ({ path, originalError }) => path?.length === 1 && !(originalError instanceof PayloadTooLarge),
  );
  return refused.length < Math.max(errors.length, fieldCount);
}

/** The response with the names of the fields that an Idempotency-Key has replayed. */
export function withReplays(
  response: GraphQLResponse,
  replayed: readonly string[],
  { executedFields }: Pick<Measure, 'executedFields'>,
): GraphQLResponse {
  if (replayed.length === 0) return response;
  const isWhole = replayed.length === executedFields.length;
  return {
    ...response,
    headers: isWhole ? { ...response.headers, 'idempotent-replayed': 'true' } : response.headers,
    body: `${response.body.trimEnd().slice(0, -1)},"extensions":{"replayed":${JSON.stringify(replayed)}}}\n`,
  };
}

function resultTooLarge(maxBytes: number): GraphQLResponse {
  const message = `The response would be larger than the ${maxBytes} bytes that are allowed: ask for fewer fields or shorter pages.`;
  return refusalResponse(asGraphQLError(new HttpError('RESULT_TOO_LARGE', message)));
}

interface WrittenErrors {
  readonly text: string;
  readonly codes: readonly string[];
  /** The number of omitted errors, including those omitted during execution. */
  readonly omitted: number;
  /** The seconds after which all of it may succeed; 0 when no error says so. */
  readonly retryAfter: number;
}

/** `withRoots` always writes those of root fields: they say what was carried out. */
function writeErrors(
  errors: readonly GraphQLError[],
  room: number,
  omittedBefore = 0,
  withRoots = false,
): WrittenErrors {
  const texts: string[] = [];
  const codes: string[] = [];
  let retryAfter = 0;
  let left = room;
  for (const error of errors) {
    const formatted = formatError(error);
    const { code, retryAfter: seconds } = formatted.extensions ?? {};
    if (typeof seconds === 'number') retryAfter = Math.max(retryAfter, seconds);
    const text = JSON.stringify(formatted);
    left -= Buffer.byteLength(text) + 1;
    if (left < 0 && !(withRoots && error.path?.length === 1)) continue;
    texts.push(text);
    codes.push(String(code));
  }
  const omitted = omittedBefore + errors.length - texts.length;
  if (omitted > 0) {
    const message = `${omitted} more errors are left out.`;
    texts.push(JSON.stringify({ message, extensions: { code: 'ERRORS_OMITTED', status: 400 } }));
    codes.push('ERRORS_OMITTED');
  }
  return { text: `[${texts.join(',')}]`, codes, omitted, retryAfter };
}

/*
 * The refusals of requests whose operation isn't found or isn't valid. Their codes are those of Apollo Server, by which
 * clients know what to do.
 */

export const noText = refusedWith(
  'The request needs a `query`, or the id of a persisted document.',
  'BAD_REQUEST',
  400,
);

export const notInList = refusedWith(
  'Only the operations of a list are offered here: ask for one of them by its id.',
  'PERSISTED_QUERY_NOT_IN_LIST',
  400,
);

const noTrustedId =
  'and no trusted document has it: the manifest that the client was built with may not be that of the service.';

export const otherHash = refusedWith(
  `\`sha256Hash\` is not the SHA-256 of \`query\`, ${noTrustedId}`,
  'BAD_REQUEST',
  400,
);

export const otherId = refusedWith(`\`documentId\` is not the id of \`query\`, ${noTrustedId}`, 'BAD_REQUEST', 400);

/** Clients send the text next; some of them read it nowhere but in a response with 200. */
export const unknownId: GraphQLResponse = {
  ...refusedWith('PersistedQueryNotFound', ApolloServerErrorCode.PERSISTED_QUERY_NOT_FOUND, 400),
  isOkInJson: true,
};

/** Apollo Server's code is BAD_REQUEST here, which stands for 400. */
export function onlyByPost(kind: OperationTypeNode): GraphQLResponse {
  const message = `GET requests only support query operations, not ${kind} operations: send it by POST.`;
  return { ...refusedWith(message, 'METHOD_NOT_ALLOWED', 405), headers: { allow: 'POST' } };
}

function refusedWith(message: string, code: string, status: number): GraphQLResponse {
  return refusalResponse(new GraphQLError(message, { extensions: { code, http: { status } } }));
}
