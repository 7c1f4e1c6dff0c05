import { unwrapResolverError } from '@apollo/server/errors';
import { GraphQLError, type GraphQLFormattedError } from 'graphql';

import { DomainError, type Violation } from '../domain/errors.ts';
import { describeFailure } from '../http/error-table.ts';
import { violationOf } from './input-errors.ts';

const maxMessageCharacters = 500;

/**
 * An error as clients see it: `extensions.code` in Apollo's spelling, `extensions.status` as REST would answer, and for bad
 * input `extensions.violations`. What nobody has foreseen is masked.
 */
export function formatError(formatted: GraphQLFormattedError, error: unknown): GraphQLFormattedError {
  const cause = unwrapResolverError(error);
  if (isOwnDoing(error)) {
    const { code, ...extensions } = formatted.extensions ?? {};
    const violation = error instanceof GraphQLError ? violationOf(error) : undefined;
    return {
      ...formatted,
      message: explain(shorten(formatted.message)),
      extensions:
        violation === undefined
          ? { ...extensions, code: code ?? 'BAD_REQUEST', status: 400 }
          : { ...extensions, ...badInput([violation]) },
    };
  }
  const failure = describeFailure(cause);
  return {
    ...formatted,
    message: failure.message,
    extensions: {
      code: failure.graphqlCode,
      status: failure.status,
      ...(failure.violations.length > 0 ? { violations: failure.violations } : {}),
    },
  };
}

/** True for what nobody has foreseen, and what has to be looked at. */
export function isInternalError(error: GraphQLError): boolean {
  return !isOwnDoing(error) && describeFailure(unwrapResolverError(error)).logLevel === 'error';
}

/** The lost database among the errors, if there is one: it makes the whole response a 503. */
export function findUnavailable(errors: readonly GraphQLError[]): DomainError | undefined {
  return errors
    .map((error) => unwrapResolverError(error))
    .find((cause) => cause instanceof DomainError && cause.code === 'UNAVAILABLE') as DomainError | undefined;
}

/** The client's document or variables are wrong, said by graphql-js, Apollo or our limits; not by a resolver. */
function isOwnDoing(error: unknown): boolean {
  if (!(error instanceof GraphQLError) || error.path !== undefined) return false;
  const { code } = error.extensions;
  return code !== undefined && code !== 'INTERNAL_SERVER_ERROR';
}

function badInput(violations: readonly Violation[]): Record<string, unknown> {
  const { status, graphqlCode } = describeFailure(new DomainError('VALIDATION_FAILED', ''));
  return { code: graphqlCode, status, violations };
}

/** The parser knows its limit, but not what we call it. */
function explain(message: string): string {
  return message.replace(
    /^Syntax Error: Document contains more tha[nt] .* tokens\..*$/s,
    '$& The limit is GRAPHQL_MAX_TOKENS.',
  );
}

/** graphql-js repeats the value that it refuses, however long it is. */
function shorten(message: string): string {
  return message.length > maxMessageCharacters
    ? `${message.slice(0, maxMessageCharacters / 2)} … ${message.slice(-maxMessageCharacters / 2)}`
    : message;
}
