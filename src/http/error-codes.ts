import type { DomainErrorCode } from '../domain/errors.ts';

/** The refusals of the HTTP layer, independent of the domain's rules. */
type HttpErrorCode =
  | 'BAD_REQUEST'
  | 'UNAUTHORIZED'
  | 'KEY_BANNED'
  | 'METHOD_NOT_ALLOWED'
  | 'NOT_ACCEPTABLE'
  | 'REQUEST_TIMEOUT'
  | 'PAYLOAD_TOO_LARGE'
  | 'URI_TOO_LONG'
  | 'UNSUPPORTED_MEDIA_TYPE'
  | 'EXPECTATION_FAILED'
  | 'HEADERS_TOO_LARGE'
  | 'RATE_LIMITED'
  | 'STREAM_ENDED'
  | 'RESULT_TOO_LARGE'
  | 'QUERY_TIMED_OUT'
  | 'INTERNAL';

export type ErrorCode = DomainErrorCode | HttpErrorCode;

/** The meaning of a code, for the documents of both protocols: a clause, in Markdown. */
interface GraphQLMeaning {
  readonly status: number;
  /** `extensions.code` in GraphQL, in Apollo's spelling. */
  readonly graphqlCode: string;
  /** The meaning in GraphQL. */
  readonly graphql: string;
}

export interface ErrorRow extends GraphQLMeaning {
  /** `code` of REST's Error object. */
  readonly restCode: string;
  /** The meaning in REST, which doesn't send the others. */
  readonly rest?: string;
  /** `error` needs attention, `warn` should pass by itself; by default `info`, caused by the client. */
  readonly logLevel?: 'info' | 'warn' | 'error';
  /** Sent with every such failure. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** RFC 6750, section 3. */
export const bearerChallenge = 'Bearer realm="petstore"';

/** The same in both protocols. */
const both = (meaning: string) => ({ rest: meaning, graphql: meaning });

/** Status, codes and meaning of each failure; a new code doesn't compile until both protocols know it. */
export const errorTable = {
  BAD_REQUEST: {
    status: 400,
    restCode: 'bad_request',
    graphqlCode: 'BAD_REQUEST',
    rest: 'the request is not well-formed, or its body is no JSON object',
    graphql: 'the request is not GraphQL over HTTP',
  },
  VALIDATION_FAILED: {
    status: 400,
    restCode: 'validation_failed',
    graphqlCode: 'BAD_USER_INPUT',
    rest: 'a field or parameter is wrong; the message names each',
    graphql: 'an argument or a variable is wrong; `extensions.violations` names each field, and what would be right',
  },
  UNAUTHORIZED: {
    status: 401,
    restCode: 'unauthorized',
    graphqlCode: 'UNAUTHENTICATED',
    ...both('there is no valid key'),
  },
  FORBIDDEN: {
    status: 403,
    restCode: 'forbidden',
    graphqlCode: 'FORBIDDEN',
    headers: { 'www-authenticate': `${bearerChallenge}, error="insufficient_scope"` },
    ...both('the key lacks the scope'),
  },
  KEY_BANNED: {
    status: 403,
    restCode: 'key_banned',
    graphqlCode: 'KEY_BANNED',
    ...both('the key is banned until `Retry-After` has passed'),
  },
  NOT_FOUND: {
    status: 404,
    restCode: 'not_found',
    graphqlCode: 'NOT_FOUND',
    rest: 'there is nothing with this id, or at this path',
    graphql: 'there is nothing with this id',
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    restCode: 'method_not_allowed',
    graphqlCode: 'METHOD_NOT_ALLOWED',
    rest: 'the path has only the methods in `Allow`',
    graphql: '`/graphql` takes POST, and GET for queries',
  },
  NOT_ACCEPTABLE: {
    status: 406,
    restCode: 'not_acceptable',
    graphqlCode: 'NOT_ACCEPTABLE',
    rest: '`Accept` does not allow JSON',
    graphql: '`Accept` does not allow JSON; for a subscription, it names no stream',
  },
  REQUEST_TIMEOUT: {
    status: 408,
    restCode: 'request_timeout',
    graphqlCode: 'REQUEST_TIMEOUT',
    ...both('the request took too long to arrive'),
  },
  ABORTED: {
    status: 409,
    restCode: 'aborted',
    graphqlCode: 'ABORTED',
    graphql: 'another field of an `@atomic` mutation has failed, so this one was not carried out',
  },
  CONFLICT: {
    status: 409,
    restCode: 'conflict',
    graphqlCode: 'CONFLICT',
    rest: 'the state of the resource does not allow it',
    graphql: 'the state of the object does not allow it, or the same request is under way',
  },
  EVENTS_GONE: {
    status: 410,
    restCode: 'events_gone',
    graphqlCode: 'EVENTS_GONE',
    ...both('the log of changes no longer has this position: begin again with the lists'),
  },
  PRECONDITION_FAILED: {
    status: 412,
    restCode: 'precondition_failed',
    graphqlCode: 'PRECONDITION_FAILED',
    rest: 'the resource no longer has the `ETag` of `If-Match`, or still has that of `If-None-Match`',
    graphql: 'the object no longer has the version of `ifVersion`',
  },
  PAYLOAD_TOO_LARGE: {
    status: 413,
    restCode: 'payload_too_large',
    graphqlCode: 'PAYLOAD_TOO_LARGE',
    ...both('the body has more than 1 MiB'),
  },
  URI_TOO_LONG: {
    status: 414,
    restCode: 'uri_too_long',
    graphqlCode: 'URI_TOO_LONG',
    ...both('the request target has more than 8 KiB'),
  },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    restCode: 'unsupported_media_type',
    graphqlCode: 'UNSUPPORTED_MEDIA_TYPE',
    rest: 'the body is not of a media type that is read here',
    graphql: 'the body is not JSON',
  },
  EXPECTATION_FAILED: {
    status: 417,
    restCode: 'expectation_failed',
    graphqlCode: 'EXPECTATION_FAILED',
    ...both('`Expect` has something else than `100-continue`'),
  },
  IDEMPOTENCY_KEY_REUSED: {
    status: 422,
    restCode: 'idempotency_key_reused',
    graphqlCode: 'IDEMPOTENCY_KEY_REUSED',
    rest: 'the `Idempotency-Key` was used for another request',
    graphql: 'the `Idempotency-Key` was used for another input or field',
  },
  RATE_LIMITED: {
    status: 429,
    restCode: 'rate_limited',
    graphqlCode: 'RATE_LIMITED',
    rest: 'the quota is spent until `Retry-After` has passed',
    graphql: 'the quota is spent for `extensions.retryAfter` seconds',
  },
  HEADERS_TOO_LARGE: {
    status: 431,
    restCode: 'headers_too_large',
    graphqlCode: 'HEADERS_TOO_LARGE',
    ...both('the headers have more than 16 KiB'),
  },
  // Of a stream that has lasted its time: nothing has failed, and the next one can be opened at once.
  STREAM_ENDED: {
    status: 200,
    restCode: 'stream_ended',
    graphqlCode: 'STREAM_ENDED',
    graphql: 'a stream of events has lasted its time: open the next one at once',
  },
  RESULT_TOO_LARGE: {
    status: 400,
    restCode: 'result_too_large',
    graphqlCode: 'RESULT_TOO_LARGE',
    graphql:
      'the result would be larger than is allowed: ask for fewer fields or shorter pages; a mutation says whether it was carried out',
  },
  QUERY_TIMED_OUT: {
    status: 400,
    restCode: 'query_timed_out',
    graphqlCode: 'QUERY_TIMED_OUT',
    graphql:
      'the list takes the database too long: use a narrower filter, or leave `totalCount` out; do not repeat it, because it would be cut off again',
  },
  INTERNAL: {
    status: 500,
    restCode: 'internal_error',
    graphqlCode: 'INTERNAL_SERVER_ERROR',
    logLevel: 'error',
    ...both('our mistake; it is logged under the `X-Request-Id`'),
  },
  UNAVAILABLE: {
    status: 503,
    restCode: 'unavailable',
    graphqlCode: 'SERVICE_UNAVAILABLE',
    logLevel: 'warn',
    rest: 'the store is not available; try again after `Retry-After`',
    graphql: 'the store is not available; try again after `extensions.retryAfter` seconds',
  },
} as const satisfies Record<ErrorCode, ErrorRow>;

/** The failures that only GraphQL's documents have. */
const documentErrors: readonly GraphQLMeaning[] = [
  { status: 400, graphqlCode: 'GRAPHQL_PARSE_FAILED', graphql: 'the document is not GraphQL' },
  {
    status: 400,
    graphqlCode: 'GRAPHQL_VALIDATION_FAILED',
    graphql: 'the document does not fit the schema, or a limit of its size',
  },
  {
    status: 400,
    graphqlCode: 'OPERATION_RESOLUTION_FAILURE',
    graphql: '`operationName` names none of the operations of the document',
  },
  {
    status: 400,
    graphqlCode: 'COMPLEXITY_LIMIT_EXCEEDED',
    graphql:
      'the operation asks for too much at once; the message names the list to make shorter, or what the searches count',
  },
  { status: 400, graphqlCode: 'ERRORS_OMITTED', graphql: 'there were more errors than are listed' },
  {
    status: 400,
    graphqlCode: 'PERSISTED_QUERY_NOT_FOUND',
    graphql: 'the service does not know this hash or id; send the text with it',
  },
  {
    status: 400,
    graphqlCode: 'PERSISTED_QUERY_NOT_IN_LIST',
    graphql: 'only operations of the manifest of the operator are allowed',
  },
];

/** Every code of a protocol with its meaning, by status. */
export interface ListedCode {
  readonly code: string;
  readonly status: number;
  readonly meaning: string;
}

const rows: readonly ErrorRow[] = Object.values(errorTable);

export const graphqlCodes: readonly ListedCode[] = listed([
  ...documentErrors.map(graphqlCode),
  ...rows.map(graphqlCode),
]);
export const restCodes: readonly ListedCode[] = listed(
  rows.flatMap(({ restCode: code, status, rest }) => (rest === undefined ? [] : [{ code, status, meaning: rest }])),
);

function graphqlCode({ graphqlCode: code, status, graphql: meaning }: GraphQLMeaning): ListedCode {
  return { code, status, meaning };
}

function listed(codes: readonly ListedCode[]): readonly ListedCode[] {
  return codes.toSorted((a, b) => a.status - b.status);
}

/** The list of a page: each code in an item of its own. */
export function listOfCodes(codes: readonly ListedCode[]): string {
  return codes
    .map(({ code, status, meaning }) => `- \`${code}\`: ${meaning}${status < 400 ? '' : ` (${status})`}`)
    .join('\n');
}
