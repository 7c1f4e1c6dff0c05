import { randomBytes } from 'node:crypto';

import type { FastifyRequest } from 'fastify';

import { HttpError } from '../../http/error-table.ts';
import {
  assertNesting,
  decodeJson,
  isExact,
  mayHaveRoundedNumbers,
  parseJson,
  replaceNumbers,
} from '../../http/exact-json.ts';
import { InexactNumber } from './inexact-number.ts';

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

/** The media types of a response that is no stream. */
export const jsonTypes = ['application/json', 'application/graphql-response+json'] as const;

/** Headers that a browser never sends cross-site without a preflight. */
export const headersOfPrograms = ['authorization', 'x-api-key', 'apollo-require-preflight'] as const;

/** Parses the body of a GraphQL request; returns BAD_REQUEST when it isn't JSON, or too deep. */
export function parseGraphQLBody(body: Buffer): GraphQLBody | HttpError {
  try {
    const text = decodeJson(body);
    const value: unknown = parseJson(text);
    const hasVariables = isRecord(value) && isRecord(value['variables']);
    const exact = hasVariables && mayHaveRoundedNumbers(text) ? { ...value, variables: variablesIn(text) } : value;
    return { value: exact, bytes: body.length };
  } catch (error) {
    return error instanceof HttpError ? error : new HttpError('BAD_REQUEST', 'The body is not valid JSON in UTF-8.');
  }
}

/** The variables of a JSON body that is known to be an object, with exact numbers. */
function variablesIn(text: string): unknown {
  return (withExactNumbers(text) as { readonly variables?: unknown }).variables;
}

/**
 * The variables of a GET with exact numbers; undefined when there are none, or no object, which Apollo refuses. Throws
 * BAD_REQUEST for JSON that is too deep.
 */
export function exactVariables(url: string): Readonly<Record<string, unknown>> | undefined {
  const parameters = new URLSearchParams(searchOf(url));
  for (const name of ['variables', 'extensions']) parameters.getAll(name).forEach(assertNesting);
  const text = parameters.get('variables');
  try {
    const variables = text === null ? undefined : parseExactly(text);
    return isRecord(variables) ? variables : undefined;
  } catch {
    return undefined;
  }
}

/** The size of what the client has written: the body, or the target of a GET. */
export function bytesOf({ body, url }: Pick<FastifyRequest, 'body' | 'url'>): number {
  return body === undefined ? Buffer.byteLength(url) : (body as GraphQLBody).bytes;
}

/**
 * The parameters of a usual request; undefined for any other, which Apollo has to check. Throws BAD_REQUEST for JSON
 * that is too deep.
 */
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
  } catch (error) {
    if (error instanceof HttpError) throw error;
    return undefined;
  }
}

export function searchOf(url: string): string {
  const start = url.indexOf('?');
  return start === -1 ? '' : url.slice(start);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function parseExactly(text: string): unknown {
  const value = parseJson(text);
  return mayHaveRoundedNumbers(text) ? withExactNumbers(text) : value;
}

/**
 * The value of a text that is known to be JSON, in which numbers that a JavaScript number can't keep are
 * `InexactNumber`. No client can know how the strings begin that stand in for them.
 */
function withExactNumbers(text: string): unknown {
  const marker = randomBytes(12).toString('base64url');
  const marked = replaceNumbers(text, (literal) => (isKept(literal) ? undefined : `"${marker}${literal}"`));
  return withNumbers(JSON.parse(marked), marker);
}

/** A short fraction is one as a double too, which is all that refusing it needs. */
function isKept(literal: string): boolean {
  return isExact(literal) || (literal.length < 16 && !Number.isInteger(Number(literal)));
}

function withNumbers(value: unknown, marker: string): unknown {
  if (typeof value === 'string') {
    return value.startsWith(marker) ? new InexactNumber(value.slice(marker.length)) : value;
  }
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) value[index] = withNumbers(value[index], marker);
    return value;
  }
  const members = value as Record<string, unknown>;
  for (const name of Object.keys(members)) members[name] = withNumbers(members[name], marker);
  return members;
}
