import type { FastifyRequest } from 'fastify';

import { HttpError } from '../../http/error-table.ts';
import { replaceNumbers } from '../../http/exact-json.ts';

/** The parameters of a GraphQL request, by POST or GET. */
export interface GraphQLRequest {
  readonly query: string | undefined;
  readonly operationName: string | undefined;
  readonly variables: Readonly<Record<string, unknown>> | undefined;
  /** The id of a persisted or trusted document. */
  readonly documentId: string | undefined;
  /** The same as Apollo's clients send it. With the text, it is the hash that the text must have. */
  readonly sha256: string | undefined;
}

/** A parsed body, and its size as it came. */
export interface GraphQLBody {
  readonly value: unknown;
  readonly bytes: number;
}

/** Numbers of this many digits may not survive as a JavaScript number. */
const longNumber = /\d{16}/;
const integer = /^-?\d+$/;

/** Headers that a browser never sends cross-site without a preflight. */
export const headersOfPrograms = ['authorization', 'x-api-key', 'apollo-require-preflight'] as const;

/** Parses the body of a GraphQL request; returns BAD_REQUEST when it isn't JSON. */
export function parseGraphQLBody(body: Buffer): GraphQLBody | HttpError {
  try {
    return { value: parseExactly(body.toString()), bytes: body.length };
  } catch {
    return new HttpError('BAD_REQUEST', 'The body is not valid JSON.');
  }
}

/** The query string with ids in `variables` kept exact; Apollo refuses invalid JSON there. */
export function exactSearch(url: string): string {
  const search = searchOf(url);
  if (!longNumber.test(search)) return search;
  const parameters = new URLSearchParams(search);
  const [variables, ...others] = parameters.getAll('variables');
  if (variables === undefined || others.length > 0) return search;
  try {
    parameters.set('variables', JSON.stringify(parseExactly(variables)));
  } catch {
    return search;
  }
  return `?${parameters.toString()}`;
}

/** The size of what the client has written: the body, or the target of a GET. */
export function bytesOf({ body, url }: Pick<FastifyRequest, 'body' | 'url'>): number {
  return body === undefined ? Buffer.byteLength(url) : (body as GraphQLBody).bytes;
}

/** The parameters of a usual request; undefined for any other, which Apollo has to check. */
export function readRequest(request: FastifyRequest): GraphQLRequest | undefined {
  if (request.method === 'POST') return readParameters((request.body as GraphQLBody | undefined)?.value);
  const { headers } = request;
  const isForgeable = headersOfPrograms.every((name) => !headers[name]);
  return headers['content-type'] === undefined && !isForgeable ? readSearch(request.url) : undefined;
}

function readParameters(body: unknown): GraphQLRequest | undefined {
  if (!isRecord(body)) return undefined;
  const { query = null, operationName = null, variables = null, extensions = null, documentId = null } = body;
  if (query !== null && typeof query !== 'string') return undefined;
  if (operationName !== null && typeof operationName !== 'string') return undefined;
  if (variables !== null && !isRecord(variables)) return undefined;
  if (extensions !== null && !isRecord(extensions)) return undefined;
  if (documentId !== null && typeof documentId !== 'string') return undefined;
  const sha256 = persistedHash(extensions?.['persistedQuery']);
  if (sha256 === null) return undefined;
  return {
    query: query ?? undefined,
    operationName: operationName ?? undefined,
    variables: variables ?? undefined,
    documentId: documentId ?? undefined,
    sha256,
  };
}

/** The hash of a persisted query: undefined without one, null when it is invalid and Apollo has to refuse it. */
function persistedHash(persistedQuery: unknown): string | null | undefined {
  if (!persistedQuery) return undefined;
  const { version, sha256Hash } = persistedQuery as { readonly version?: unknown; readonly sha256Hash?: unknown };
  return version === 1 && typeof sha256Hash === 'string' ? sha256Hash : null;
}

/** The request in Apollo's form, with the text of its document, or with the unknown id. */
export function forApollo(
  { method, headers, url }: Pick<FastifyRequest, 'method' | 'headers' | 'url'>,
  { operationName, variables, documentId, sha256 }: GraphQLRequest,
  text: string | undefined,
): Pick<FastifyRequest, 'method' | 'headers' | 'url' | 'body'> {
  const sha256Hash = sha256 ?? documentId ?? '';
  const extensions = text === undefined ? { persistedQuery: { version: 1, sha256Hash } } : undefined;
  const all = Object.entries({ query: text, operationName, variables, extensions });
  const value = Object.fromEntries(all.filter(([, each]) => each !== undefined));
  if (method === 'POST') return { method, headers, url, body: { value, bytes: 0 } };
  const parameters = new URLSearchParams();
  for (const [name, each] of Object.entries(value)) {
    parameters.set(name, typeof each === 'string' ? each : JSON.stringify(each));
  }
  return { method, headers, url: `${url.split('?', 1)[0]}?${parameters.toString()}`, body: undefined };
}

function readSearch(url: string): GraphQLRequest | undefined {
  const parameters = new URLSearchParams(searchOf(url));
  const names = ['query', 'operationName', 'variables', 'extensions', 'documentId'];
  if (names.some((name) => parameters.getAll(name).length > 1)) return undefined;
  const text = (name: string): string | undefined => parameters.get(name) ?? undefined;
  const json = (name: string): unknown => (parameters.has(name) ? parseExactly(text(name) ?? '') : undefined);
  try {
    const [variables, extensions] = [json('variables'), json('extensions')];
    // A query string has no null: an unset parameter is omitted.
    if (variables === null || extensions === null) return undefined;
    const [query, operationName, documentId] = [text('query'), text('operationName'), text('documentId')];
    return readParameters({ query, operationName, documentId, variables, extensions });
  } catch {
    return undefined;
  }
}

function searchOf(url: string): string {
  const start = url.indexOf('?');
  return start === -1 ? '' : url.slice(start);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whole numbers beyond 2^53 become strings of the same digits, so that an id sent as a JSON number stays exact. */
function parseExactly(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return longNumber.test(text) ? JSON.parse(replaceNumbers(text, quoteLong)) : value;
}

function quoteLong(literal: string): string | undefined {
  const isLong = literal.length >= 16 && integer.test(literal) && !Number.isSafeInteger(Number(literal));
  return isLong ? `"${literal}"` : undefined;
}
