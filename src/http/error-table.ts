import { Refusal } from '../platform/http/index.ts';
import { DomainError, type DomainErrorCode, type Violation } from '../domain/errors.ts';

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

interface ErrorRow {
  readonly status: number;
  /** `code` of REST's Error object. */
  readonly restCode: string;
  /** `extensions.code` in GraphQL, in Apollo's spelling. */
  readonly graphqlCode: string;
  /** `error` needs attention, `warn` should pass by itself; by default `info`, caused by the client. */
  readonly logLevel?: 'info' | 'warn' | 'error';
  /** Sent with every such failure. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** RFC 6750, section 3. */
export const bearerChallenge = 'Bearer realm="petstore"';

/** Status and codes of each failure; a new code doesn't compile until both protocols know it. */
export const errorTable = {
  BAD_REQUEST: { status: 400, restCode: 'bad_request', graphqlCode: 'BAD_REQUEST' },
  VALIDATION_FAILED: { status: 400, restCode: 'validation_failed', graphqlCode: 'BAD_USER_INPUT' },
  UNAUTHORIZED: { status: 401, restCode: 'unauthorized', graphqlCode: 'UNAUTHENTICATED' },
  FORBIDDEN: {
    status: 403,
    restCode: 'forbidden',
    graphqlCode: 'FORBIDDEN',
    headers: { 'www-authenticate': `${bearerChallenge}, error="insufficient_scope"` },
  },
  KEY_BANNED: { status: 403, restCode: 'key_banned', graphqlCode: 'KEY_BANNED' },
  NOT_FOUND: { status: 404, restCode: 'not_found', graphqlCode: 'NOT_FOUND' },
  METHOD_NOT_ALLOWED: { status: 405, restCode: 'method_not_allowed', graphqlCode: 'METHOD_NOT_ALLOWED' },
  NOT_ACCEPTABLE: { status: 406, restCode: 'not_acceptable', graphqlCode: 'NOT_ACCEPTABLE' },
  REQUEST_TIMEOUT: { status: 408, restCode: 'request_timeout', graphqlCode: 'REQUEST_TIMEOUT' },
  ABORTED: { status: 409, restCode: 'aborted', graphqlCode: 'ABORTED' },
  CONFLICT: { status: 409, restCode: 'conflict', graphqlCode: 'CONFLICT' },
  EVENTS_GONE: { status: 410, restCode: 'events_gone', graphqlCode: 'EVENTS_GONE' },
  PRECONDITION_FAILED: { status: 412, restCode: 'precondition_failed', graphqlCode: 'PRECONDITION_FAILED' },
  IDEMPOTENCY_KEY_REUSED: { status: 422, restCode: 'idempotency_key_reused', graphqlCode: 'IDEMPOTENCY_KEY_REUSED' },
  PAYLOAD_TOO_LARGE: { status: 413, restCode: 'payload_too_large', graphqlCode: 'PAYLOAD_TOO_LARGE' },
  URI_TOO_LONG: { status: 414, restCode: 'uri_too_long', graphqlCode: 'URI_TOO_LONG' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, restCode: 'unsupported_media_type', graphqlCode: 'UNSUPPORTED_MEDIA_TYPE' },
  EXPECTATION_FAILED: { status: 417, restCode: 'expectation_failed', graphqlCode: 'EXPECTATION_FAILED' },
  HEADERS_TOO_LARGE: { status: 431, restCode: 'headers_too_large', graphqlCode: 'HEADERS_TOO_LARGE' },
  RATE_LIMITED: { status: 429, restCode: 'rate_limited', graphqlCode: 'RATE_LIMITED' },
  // Of a stream that has lasted its time: nothing has failed, and the next one can be opened at once.
  STREAM_ENDED: { status: 200, restCode: 'stream_ended', graphqlCode: 'STREAM_ENDED' },
  RESULT_TOO_LARGE: { status: 400, restCode: 'result_too_large', graphqlCode: 'RESULT_TOO_LARGE' },
  QUERY_TIMED_OUT: { status: 400, restCode: 'query_timed_out', graphqlCode: 'QUERY_TIMED_OUT' },
  INTERNAL: { status: 500, restCode: 'internal_error', graphqlCode: 'INTERNAL_SERVER_ERROR', logLevel: 'error' },
  UNAVAILABLE: { status: 503, restCode: 'unavailable', graphqlCode: 'SERVICE_UNAVAILABLE', logLevel: 'warn' },
} as const satisfies Record<ErrorCode, ErrorRow>;

/** A refusal by the transport, with any code of the table. */
export class HttpError extends Refusal<Exclude<ErrorCode, 'INTERNAL'>> {}

/** A failure as both protocols report it. */
export interface Failure extends Required<Omit<ErrorRow, 'headers'>> {
  readonly message: string;
  readonly violations: readonly Violation[];
  readonly retryAfterSeconds: number | undefined;
  /** The headers that the failure adds, `Retry-After` included. */
  readonly headers: Readonly<Record<string, string>>;
}

const internalMessage = 'Something went wrong on our side. It has been logged with the request id of this response.';

/** Fastify's own refusals. */
const fastifyErrors: ReadonlyMap<string, HttpError> = new Map([
  [
    'FST_ERR_CTP_INVALID_MEDIA_TYPE',
    new HttpError('UNSUPPORTED_MEDIA_TYPE', 'The media type of the body is not supported: send application/json.'),
  ],
  ['FST_ERR_BAD_URL', new HttpError('BAD_REQUEST', 'The path is not valid percent-encoded UTF-8.')],
]);

/** The failure as clients see it. Any unexpected error becomes INTERNAL, without its message. */
export function describeFailure(error: unknown): Failure {
  const known = error instanceof DomainError ? error : asHttpError(error);
  const { retryAfterSeconds } = known ?? {};
  const row: ErrorRow = errorTable[known?.code ?? 'INTERNAL'];
  return {
    ...row,
    // A line of its own for each refusal would cost more than the refusal.
    logLevel: known instanceof Refusal ? 'info' : (row.logLevel ?? 'info'),
    message: known?.message ?? internalMessage,
    violations: known instanceof DomainError ? known.violations : [],
    retryAfterSeconds,
    headers: {
      ...row.headers,
      ...(known instanceof Refusal ? known.headers : {}),
      ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
    },
  };
}

/** The extensions of a GraphQL error. */
export function graphqlExtensions({ graphqlCode, status, violations, retryAfterSeconds }: Failure) {
  return {
    code: graphqlCode,
    status,
    ...(violations.length > 0 ? { violations } : {}),
    ...(retryAfterSeconds === undefined ? {} : { retryAfter: retryAfterSeconds }),
  };
}

/** Whether the error is a refusal, of this layer or of one of its bounds. */
export function isRefusal(error: unknown): error is HttpError {
  return error instanceof Refusal;
}

function asHttpError(error: unknown): HttpError | undefined {
  if (isRefusal(error)) return error;
  return error instanceof Error && 'code' in error ? fastifyErrors.get(String(error.code)) : undefined;
}
