import { Refusal } from '../platform/http/index.ts';
import { DomainError, type Violation } from '../domain/errors.ts';
import { type ErrorCode, type ErrorRow, errorTable } from './error-codes.ts';

/** A refusal by the transport, with any code of the table. */
export class HttpError extends Refusal<Exclude<ErrorCode, 'INTERNAL'>> {}

/** A failure as both protocols report it. */
export interface Failure extends Required<Omit<ErrorRow, 'headers' | 'rest' | 'graphql'>> {
  readonly message: string;
  readonly violations: readonly Violation[];
  readonly retryAfterSeconds: number | undefined;
  /** The headers that the failure adds, `Retry-After` included. */
  readonly headers: Readonly<Record<string, string>>;
}

const internalMessage = 'Something went wrong on our side. It has been logged with the request id of this response.';

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
