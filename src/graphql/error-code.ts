import { GraphQLEnumType, GraphQLSchema } from 'graphql';

import type { errorTable } from '../http/error-table.ts';

type CodeOfTable = (typeof errorTable)[keyof typeof errorTable]['graphqlCode'];
type CodeOfDocuments =
  | 'GRAPHQL_PARSE_FAILED'
  | 'GRAPHQL_VALIDATION_FAILED'
  | 'OPERATION_RESOLUTION_FAILURE'
  | 'PERSISTED_QUERY_NOT_FOUND'
  | 'PERSISTED_QUERY_NOT_IN_LIST'
  | 'COMPLEXITY_LIMIT_EXCEEDED'
  | 'ERRORS_OMITTED';

/** Every `extensions.code`, with what it says. A code of the table of errors that is missing doesn't compile. */
const codes: Readonly<Record<CodeOfTable | CodeOfDocuments, string>> = {
  ABORTED: 'Another field of the `@atomic` operation has failed: nothing was carried out.',
  BAD_REQUEST: 'The request is no request of GraphQL over HTTP.',
  BAD_USER_INPUT: 'Values are wrong: `extensions.violations` names each with what would be right.',
  COMPLEXITY_LIMIT_EXCEEDED: 'The operation asks for too much at once: request shorter lists.',
  CONFLICT: 'The state of the store does not allow it, or the same Idempotency-Key is being carried out.',
  ERRORS_OMITTED: 'There were more errors than a response has.',
  EVENTS_GONE: 'The log no longer has this event: read the lists again, and go on from `eventCursor`.',
  EXPECTATION_FAILED: 'The header `Expect` asks for something unknown.',
  FORBIDDEN: 'The key does not have the scope that this needs.',
  GRAPHQL_PARSE_FAILED: 'The document is not GraphQL.',
  GRAPHQL_VALIDATION_FAILED: 'The document does not fit the schema, or goes beyond a limit.',
  HEADERS_TOO_LARGE: 'The headers are too large.',
  IDEMPOTENCY_KEY_REUSED: 'The Idempotency-Key was used for something else.',
  INTERNAL_SERVER_ERROR: 'Something went wrong on our side. It has been logged.',
  KEY_BANNED: 'The key is banned for a while: `Retry-After` says until when.',
  METHOD_NOT_ALLOWED: 'The path does not have this method.',
  NOT_ACCEPTABLE: 'None of the media types that are accepted can be sent.',
  NOT_FOUND: 'There is no such object.',
  OPERATION_RESOLUTION_FAILURE: 'The document has several operations, or none of this name: send `operationName`.',
  PAYLOAD_TOO_LARGE: 'The body is too large.',
  PERSISTED_QUERY_NOT_FOUND: 'The hash is not known: send it once more with the document.',
  PERSISTED_QUERY_NOT_IN_LIST: 'Only the documents of the list of trusted documents are carried out.',
  PRECONDITION_FAILED: 'The object has changed: read it, and send its version as `ifVersion`.',
  QUERY_TIMED_OUT: 'A list takes the database too long: use a narrower filter, or no `totalCount`. Do not repeat it.',
  RATE_LIMITED: 'The quota is spent: try again after `extensions.retryAfter` seconds.',
  REQUEST_TIMEOUT: 'The request was not received in time.',
  RESULT_TOO_LARGE: 'The result is too large: request less. A mutation says whether it was carried out.',
  SERVICE_UNAVAILABLE: 'It may succeed soon: try again after `extensions.retryAfter` seconds.',
  STREAM_ENDED: 'The stream has lasted its time: open the next one at once.',
  UNAUTHENTICATED: 'There is no valid API key.',
  UNSUPPORTED_MEDIA_TYPE: 'The media type of the body is not supported.',
  URI_TOO_LONG: 'The address is too long.',
};

/** Adds `enum ErrorCode`, which no field has: clients generate their types from it. */
export function addErrorCodes(schema: GraphQLSchema): GraphQLSchema {
  const type = new GraphQLEnumType({
    name: 'ErrorCode',
    description: 'What `extensions.code` of an error may be. Further codes may be added.',
    values: Object.fromEntries(Object.entries(codes).map(([code, description]) => [code, { description }])),
  });
  const config = schema.toConfig();
  return new GraphQLSchema({ ...config, types: [...config.types, type] });
}
