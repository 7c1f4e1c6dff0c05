import { failureBody, type Failure } from './error-table.ts';

/** Whose words an error is told in: REST's Error object, a GraphQL response, or a line for whoever looks at a page. */
export type ErrorFormat = 'rest' | 'graphql' | 'text';

export interface FailureResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

interface Asked {
  readonly format: ErrorFormat;
  readonly requestId: string;
  /** The request's Accept header, as far as it is known. */
  readonly accept?: string | undefined;
}

/** What caches must tell apart on every response of the API. */
export const apiVary = 'Authorization, X-API-Key, Accept, Origin';

/**
 * The one form of every response that tells a failure, wherever it is written: through Fastify, or by hand where the request
 * never became one. What every error has to carry belongs here.
 */
export function failureResponse(failure: Failure, asked: Asked): FailureResponse {
  const isText = asked.format === 'text';
  return {
    status: failure.status,
    headers: {
      ...failure.headers,
      'content-type': contentType(asked),
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-request-id': asked.requestId,
      ...(isText ? {} : { vary: apiVary }),
    },
    body: isText ? `${failure.message}\n` : JSON.stringify(failureBody(failure, asked.format === 'graphql')),
  };
}

function contentType({ format, accept }: Asked): string {
  if (format === 'text') return 'text/plain; charset=utf-8';
  // GraphQL over HTTP, section 6.2: only under its own media type is a status other than 2xx known to be GraphQL's.
  const isGraphQLAccepted = format === 'graphql' && accept?.includes('application/graphql-response+json');
  return `application/${isGraphQLAccepted ? 'graphql-response+json' : 'json'}; charset=utf-8`;
}
