import type { FastifyRequest } from 'fastify';

import { HttpError, isRefusal } from '../../http/error-table.ts';
import { parseJson } from '../../platform/http/index.ts';
import { assertDocumentSize } from './admission.ts';
import { InexactNumber } from './variables.ts';

export interface GraphQLRequest {
  readonly query: string | undefined;
  readonly operationName: string | undefined;
  readonly variables: Readonly<Record<string, unknown>> | undefined;
  /** The id of a persisted or trusted document; with the text, the id that the text must have. */
  readonly documentId: string | undefined;
  /** The same as Apollo's clients send it. With the text, it is the hash that the text must have. */
  readonly sha256: string | undefined;
  /** The size of what the client has written: the body, or the target of a GET. */
  readonly bytes: number;
}

/** A parsed body, and its size as it came. */
export interface GraphQLBody {
  readonly value: unknown;
  readonly bytes: number;
}

const jsonType = /^\s*application\/json\s*(?:;|$)/i;

/** Headers that a browser never sends cross-site without a preflight. */
const headersOfPrograms = ['authorization', 'x-api-key', 'apollo-require-preflight'] as const;

const forgeable = `Another site could have a browser send this request (Cross-Site Request Forgery, CSRF): send it by POST, or with one of the headers ${headersOfPrograms.join(', ')}.`;

/** Parses the body of a GraphQL request; returns BAD_REQUEST when it isn't JSON, or beyond the limits. */
export function parseGraphQLBody(body: Buffer): GraphQLBody | HttpError {
  try {
    return { value: parseJson(body, readNumber), bytes: body.length };
  } catch (error) {
    return isRefusal(error) ? error : new HttpError('BAD_REQUEST', 'The body is not valid JSON in UTF-8.');
  }
}

/** Whether a request names its document by an id instead of sending it. */
export function isById({ query, documentId, sha256 }: GraphQLRequest): boolean {
  return query === undefined && (documentId ?? sha256) !== undefined;
}

/** Throws BAD_REQUEST, also for what another site could have a browser send, and UNSUPPORTED_MEDIA_TYPE. */
export function readRequest({ method, headers, url, body }: FastifyRequest): GraphQLRequest {
  if (method === 'POST') return readBody(body as GraphQLBody | undefined);
  const { 'content-type': type } = headers;
  if (type !== undefined && !jsonType.test(type))
    throw new HttpError('UNSUPPORTED_MEDIA_TYPE', 'A GET has no body: send it without Content-Type.');
  // With a Content-Type of JSON a browser sends a preflight.
  const isForgeable = type === undefined && headersOfPrograms.every((name) => !headers[name]);
  if (isForgeable) throw badRequest(forgeable);
  return readSearch(url);
}

function readBody(body: GraphQLBody | undefined): GraphQLRequest {
  const { value, bytes = 0 } = body ?? {};
  if (Array.isArray(value)) throw badRequest('Send one operation in a request: batches are not offered.');
  if (!isRecord(value)) throw badRequest('The body must be a JSON object with a `query`.');
  return readParameters(value, bytes);
}

function readSearch(url: string): GraphQLRequest {
  const start = url.indexOf('?');
  const search = new URLSearchParams(start === -1 ? '' : url.slice(start));
  const text = (name: string): string | undefined => {
    const [value, ...others] = search.getAll(name);
    if (others.length > 0) throw badRequest(`The parameter \`${name}\` must be sent once.`);
    return value;
  };
  const json = (name: string): unknown => {
    const value = text(name);
    // Generated clients send parameters without a value as empty.
    return value === undefined || value === '' ? undefined : parseParameter(name, value);
  };
  const parameters = {
    query: text('query'),
    operationName: text('operationName'),
    documentId: text('documentId'),
    variables: json('variables'),
    extensions: json('extensions'),
  };
  return readParameters(parameters, Buffer.byteLength(url));
}

/** Unset, null and empty are one. */
function readParameters(parameters: Readonly<Record<string, unknown>>, bytes: number): GraphQLRequest {
  const text = (name: string): string | undefined => {
    const value = parameters[name] ?? '';
    if (typeof value !== 'string') throw badRequest(`\`${name}\` must be a string.`);
    return value === '' ? undefined : value;
  };
  const object = (name: string): Readonly<Record<string, unknown>> | undefined => {
    const value = parameters[name] ?? undefined;
    if (value !== undefined && !isRecord(value)) throw badRequest(`\`${name}\` must be a JSON object.`);
    return value;
  };
  const query = text('query');
  if (query !== undefined) assertDocumentSize(query);
  return {
    query,
    operationName: text('operationName'),
    variables: object('variables'),
    documentId: text('documentId'),
    sha256: persistedHash(object('extensions')?.['persistedQuery']),
    bytes,
  };
}

/** The hash of a persisted query; undefined without one. */
function persistedHash(persistedQuery: unknown): string | undefined {
  if (!persistedQuery) return undefined;
  const { version, sha256Hash } = persistedQuery as { readonly version?: unknown; readonly sha256Hash?: unknown };
  if (version === 1 && typeof sha256Hash === 'string') return sha256Hash;
  throw badRequest('`extensions.persistedQuery` must have the `version` 1 and a `sha256Hash`.');
}

function badRequest(message: string): HttpError {
  return new HttpError('BAD_REQUEST', message);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof InexactNumber);
}

/** A JSON parameter of a GET. */
function parseParameter(name: string, text: string): unknown {
  try {
    return parseJson(text, readNumber);
  } catch (error) {
    throw isRefusal(error) ? error : badRequest(`The parameter \`${name}\` is not valid JSON.`);
  }
}

/** A short fraction is a double that is one, too, and is refused as well. */
function readNumber(literal: string): number | InexactNumber {
  const isShortFraction = literal.length < 16 && !Number.isInteger(Number(literal));
  return isShortFraction ? Number(literal) : new InexactNumber(literal);
}
