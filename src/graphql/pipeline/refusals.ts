import { ApolloServerErrorCode } from '@apollo/server/errors';
import { GraphQLError, type OperationTypeNode } from 'graphql';

import type { ApolloRefusal } from './apollo.ts';
import { refusalResponse, type GraphQLResponse } from './response.ts';

/*
 * The refusals of requests whose operation isn't found or isn't valid. Their codes are those of Apollo Server, by which
 * clients know what to do.
 */

export const noText = refusal('The request needs a `query`, or the id of a persisted document.', 'BAD_REQUEST', 400);

export const notInList = refusal(
  'Only the operations of a list are offered here: ask for one of them by its id.',
  'PERSISTED_QUERY_NOT_IN_LIST',
  400,
);

export const otherHash = refusal('`sha256Hash` is not the SHA-256 of `query`.', 'BAD_REQUEST', 400);

/** HTTP 200, so that Apollo's clients send the text next. */
export const unknownId: GraphQLResponse = {
  ...refusal('PersistedQueryNotFound', ApolloServerErrorCode.PERSISTED_QUERY_NOT_FOUND, 404),
  status: 200,
};

export function onlyByPost(kind: OperationTypeNode): GraphQLResponse {
  const message = `GET requests only support query operations, not ${kind} operations: send it by POST.`;
  return { ...refusal(message, 'BAD_REQUEST', 405), headers: { allow: 'POST' } };
}

export function apolloResponse({ status, errors }: ApolloRefusal): GraphQLResponse {
  const codes = errors.map(({ extensions }) => String(extensions?.['code']));
  return { status, headers: {}, body: `${JSON.stringify({ errors })}\n`, codes };
}

function refusal(message: string, code: string, status: number): GraphQLResponse {
  return refusalResponse(new GraphQLError(message, { extensions: { code, http: { status } } }));
}
