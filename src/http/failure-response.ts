import type { FastifyRequest } from 'fastify';

import { asksFor, preferredType } from '../platform/http/index.ts';
import { type Failure, graphqlExtensions } from './error-table.ts';

/** `rest` may be a problem of RFC 9457, too; `text` is for a page. */
export type ErrorFormat = 'rest' | 'graphql' | 'text';

export interface FailureResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** For a browser, in place of plain text or GraphQL's response; it may load nothing, not even an inline style. */
export type RenderErrorPage = (failure: Failure, format: ErrorFormat) => string;

/** The properties of a request on which the form of its response depends. */
interface FailedRequest {
  readonly format: ErrorFormat;
  readonly requestId: string;
  /** The request's Accept header, as far as it is known. */
  readonly accept?: string | undefined;
  /** Without one, browsers get plain text too. */
  readonly renderErrorPage?: RenderErrorPage | undefined;
}

const pagePolicy = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const textVary = 'Accept';
/** The `Vary` of every response of the API. */
export const apiVary = 'Authorization, X-API-Key, Accept, Origin';

/** The response to every error, also one written to the socket of a request that could not be parsed. */
export function failureResponse(failure: Failure, request: FailedRequest): FailureResponse {
  const { headers, body } =
    htmlResponse(failure, request) ??
    (request.format === 'text' ? textResponse(failure) : jsonResponse(failure, request));
  return {
    status: failure.status,
    headers: {
      ...failure.headers,
      ...headers,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-request-id': request.requestId,
    },
    body,
  };
}

/** Logs a fault always, and what a client has waited for in vain unless it has gone meanwhile. */
export function logFailure(
  error: unknown,
  { logLevel, restCode }: Failure,
  { log, raw }: Pick<FastifyRequest, 'log' | 'raw'>,
): void {
  if (logLevel === 'error' || (logLevel === 'warn' && !raw.socket.destroyed)) log[logLevel]({ err: error }, restCode);
}

type Representation = Pick<FailureResponse, 'headers' | 'body'>;

/** For somebody who has opened the address of a page, or of the GraphQL API, in a browser. */
function htmlResponse(
  failure: Failure,
  { format, accept, renderErrorPage }: FailedRequest,
): Representation | undefined {
  if (renderErrorPage === undefined || format === 'rest' || accept?.includes('text/html') !== true) return undefined;
  if (format === 'graphql' && accept.includes('json')) return undefined;
  const vary = format === 'graphql' ? apiVary : textVary;
  return {
    headers: { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': pagePolicy, vary },
    body: renderErrorPage(failure, format),
  };
}

function textResponse({ message }: Failure): Representation {
  return { headers: { 'content-type': 'text/plain; charset=utf-8', vary: textVary }, body: `${message}\n` };
}

const problemMediaType = 'application/problem+json';
/** The media types of a GraphQL response that is no stream. */
export const graphqlTypes = ['application/json', 'application/graphql-response+json'] as const;

/** Whether a REST client asks for failures as RFC 9457 has them. It accepts JSON for everything else. */
export function asksForProblems(accept: string | undefined): boolean {
  return asksFor(accept, problemMediaType, 'application/json');
}

function jsonResponse(failure: Failure, { format, accept }: FailedRequest): Representation {
  if (format === 'graphql') {
    // GraphQL over HTTP, section 6.2: only under its own media type do clients know that a status other than 2xx comes
    // from the GraphQL server.
    const errors = [{ message: failure.message, extensions: graphqlExtensions(failure) }];
    return representation(preferredType(accept, graphqlTypes) ?? graphqlTypes[0], { errors });
  }
  return asksForProblems(accept)
    ? representation(problemMediaType, problemBody(failure))
    : representation('application/json', failureBody(failure));
}

function representation(mediaType: string, body: object): Representation {
  return { headers: { 'content-type': `${mediaType}; charset=utf-8`, vary: apiVary }, body: JSON.stringify(body) };
}

/** The Error object of REST. */
function failureBody({ status, restCode, message }: Failure): object {
  return { code: restCode, message, status };
}

/** The same by RFC 9457. */
function problemBody({ status, restCode, message, violations }: Failure): object {
  return {
    type: `/docs#${restCode}`,
    title: titleOf(restCode),
    status,
    detail: message,
    code: restCode,
    message,
    ...(violations.length > 0 ? { violations } : {}),
  };
}

/** `uri_too_long` is "URI too long". */
function titleOf(restCode: string): string {
  const words = restCode.replaceAll('_', ' ').replace(/^uri\b/, 'URI');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
