import { ApolloServerErrorCode } from '@apollo/server/errors';
import { GraphQLError, type GraphQLFormattedError } from 'graphql';

import { DomainError, isUnavailable, type Violation } from '../../domain/errors.ts';
import { describeFailure, type Failure, graphqlExtensions, HttpError, isRefusal } from '../../http/error-table.ts';
import { PayloadTooLarge } from '../../platform/executor/index.ts';
import { argumentRefusal } from './variables.ts';

type ServiceError = DomainError | HttpError;

const maxMessageCharacters = 500;
const incrementalDirective = /^Unknown directive "@(defer|stream)"/;
const tooManyTokens = /contains more tha[nt] (\d+) tokens/;

/** `extensions.code` has Apollo's spelling, `extensions.status` is REST's. Unexpected errors are masked. */
export function formatError(error: GraphQLError): GraphQLFormattedError {
  if (isRefusedByApollo(error)) {
    const { status } = refusalHead(error);
    // `http` is for the head of the response.
    const extensions = { ...error.extensions, http: undefined, status };
    return { ...error.toJSON(), message: explain(error.message), extensions };
  }
  const failure = describeFailure(causeOf(error));
  return {
    ...error.toJSON(),
    message: shorten(failure.message),
    extensions: graphqlExtensions({ ...failure, violations: failure.violations.map(shortenViolation) }),
  };
}

/** The parser has stopped because there are too many tokens. */
export function isOverTokenLimit({ message }: GraphQLError): boolean {
  return tooManyTokens.test(message);
}

/** An error from before the execution. */
export function asGraphQLError(cause: unknown): GraphQLError {
  if (cause instanceof GraphQLError) return cause;
  const originalError =
    cause instanceof Error ? cause : new TypeError(`Something was thrown that is no error: ${String(cause)}`);
  return new GraphQLError(originalError.message, { originalError });
}

/** Maps a literal's validation error to the one that the same value in a variable would get. */
export function markBadInput(error: GraphQLError, violation: Violation): void {
  Object.assign(error.extensions, { code: 'BAD_USER_INPUT', violations: [shortenViolation(violation)] });
}

/** True for an unexpected error, which has to be logged. */
export function isInternalError(error: GraphQLError): boolean {
  return !isRefusedByApollo(error) && describeFailure(causeOf(error)).logLevel === 'error';
}

/** The error that decides the status of the response: a refusal before execution, or else a lost database. */
export function decisiveRefusal(errors: readonly GraphQLError[], wasExecuted: boolean): ServiceError | undefined {
  return errors
    .map(causeOf)
    .filter(isServiceError)
    .find(({ code }) => !wasExecuted || code === 'UNAVAILABLE');
}

/** The original error, unwrapped from those of graphql-js, Apollo and the executor. */
export function causeOf(error: unknown): unknown {
  if (!(error instanceof GraphQLError)) return error;
  const { originalError } = error;
  if (originalError instanceof PayloadTooLarge) return new HttpError('RESULT_TOO_LARGE', originalError.message);
  if (isUnavailable(originalError) && originalError.tooLong !== undefined) return queryTimedOut(originalError.tooLong);
  return argumentRefusal(error) ?? originalError ?? error;
}

/** Whoever repeats what REST calls unavailable, because it says so, would have the database work in vain each time. */
function queryTimedOut(what: string): HttpError {
  const message = `Reading ${what} takes the database too long, so it was cut off. A narrower filter is faster, and no totalCount: the same request would be cut off again.`;
  return new HttpError('QUERY_TIMED_OUT', message);
}

/** True for an invalid request, refused by Apollo, graphql-js or our limits before any resolver. */
function isRefusedByApollo(error: GraphQLError): boolean {
  if (error.path !== undefined) return false;
  if (isServiceError(error.originalError)) return false;
  const { code } = error.extensions;
  return code !== undefined && code !== 'INTERNAL_SERVER_ERROR';
}

function isServiceError(cause: unknown): cause is ServiceError {
  return cause instanceof DomainError || isRefusal(cause);
}

/** The status and headers of a request that is refused with this error. */
export function refusalHead(error: GraphQLError): Pick<Failure, 'status' | 'headers'> {
  if (!isRefusedByApollo(error)) return describeFailure(causeOf(error));
  const { http } = error.extensions as { readonly http?: { readonly status?: number } };
  return { status: http?.status ?? 400, headers: {} };
}

export const tooManyRepetitions = 'The document repeats fields too often to be compared: ask for each once.';

/** Says in plain words what the libraries' own messages don't. */
function explain(message: string): string {
  if (message === 'Validation aborted.') return tooManyRepetitions;
  const incremental = incrementalDirective.exec(message)?.[1];
  if (incremental !== undefined) return `@${incremental} is not offered: responses are not sent in parts.`;
  const limit = tooManyTokens.exec(message)?.[1];
  if (limit === undefined) return shorten(message);
  return `The document has too many tokens: at most ${limit} are allowed.`;
}

function shortenViolation({ field, message }: Violation): Violation {
  return { field: shorten(field), message: shorten(message) };
}

/** Shortens a message: graphql-js repeats the refused value, however long it is. */
function shorten(text: string): string {
  if (text.length <= maxMessageCharacters) return text;
  const half = maxMessageCharacters / 2;
  return `${text.slice(0, half)} … ${text.slice(-half)}`.toWellFormed();
}

/** A document has several operations and none is named, or not the one that is. */
export function unresolvedOperation(operationName: string | undefined): GraphQLError {
  const message =
    operationName === undefined
      ? 'The document has several operations, or none: say which one by `operationName`.'
      : `The document has no operation ${JSON.stringify(operationName.slice(0, 100))}.`;
  const { OPERATION_RESOLUTION_FAILURE: code } = ApolloServerErrorCode;
  return new GraphQLError(message, { extensions: { code, http: { status: 400 } } });
}

export function overLimit(message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { code: 'GRAPHQL_VALIDATION_FAILED', http: { status: 400 } } });
}
