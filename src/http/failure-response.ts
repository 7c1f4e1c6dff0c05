import { failureBody, type Failure } from './error-table.ts';

/** The format of an error: REST's Error object, a GraphQL response, or plain text for a page. */
export type ErrorFormat = 'rest' | 'graphql' | 'text';

export interface FailureResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The HTML page that a browser gets in the place of plain text; it may load nothing, not even an inline style. */
export type RenderErrorPage = (failure: Failure) => string;

interface Asked {
  readonly format: ErrorFormat;
  readonly requestId: string;
  /** The request's Accept header, as far as it is known. */
  readonly accept?: string | undefined;
  /** Without one, browsers get plain text too. */
  readonly renderErrorPage?: RenderErrorPage | undefined;
}

const pagePolicy = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** What caches must tell apart on every response of the API. */
export const apiVary = 'Authorization, X-API-Key, Accept, Origin';

/**
 * The one form of every response that tells a failure, wherever it is written: through Fastify, or by hand where the request
 * never became one. What every error has to carry belongs here.
 */
export function failureResponse(failure: Failure, asked: Asked): FailureResponse {
  const { headers, body } = asked.format === 'text' ? forPerson(failure, asked) : forClient(failure, asked);
  return {
    status: failure.status,
    headers: {
      ...failure.headers,
      ...headers,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-request-id': asked.requestId,
    },
    body,
  };
}

type Representation = Pick<FailureResponse, 'headers' | 'body'>;

function forPerson(failure: Failure, { accept, renderErrorPage }: Asked): Representation {
  const vary = 'Accept';
  if (renderErrorPage === undefined || accept?.includes('text/html') !== true) {
    return { headers: { 'content-type': 'text/plain; charset=utf-8', vary }, body: `${failure.message}\n` };
  }
  return {
    headers: { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': pagePolicy, vary },
    body: renderErrorPage(failure),
  };
}

function forClient(failure: Failure, { format, accept }: Asked): Representation {
  const isGraphQL = format === 'graphql';
  // GraphQL over HTTP, section 6.2: only under its own media type is a status other than 2xx known to be GraphQL's.
  const isGraphQLAccepted = isGraphQL && accept?.includes('application/graphql-response+json');
  return {
    headers: {
      'content-type': `application/${isGraphQLAccepted ? 'graphql-response+json' : 'json'}; charset=utf-8`,
      vary: apiVary,
    },
    body: JSON.stringify(failureBody(failure, isGraphQL)),
  };
}
