import { hash } from 'node:crypto';
import { validateHeaderName, validateHeaderValue } from 'node:http';

import type { FastifyReply, FastifyRequest } from 'fastify';

import type { Caller } from '../platform/callers/index.ts';
import { validationFailed } from '../domain/errors.ts';
import { type IdempotencyService, type IdempotentCall, readStored } from '../domain/idempotency/idempotency.service.ts';
import { Services } from '../domain/services.ts';
import type { Stores } from '../domain/stores.ts';
import { readIdempotencyKey } from '../http/idempotency-key.ts';
import type { CollectionSlots } from './collection-slots.ts';
import { preconditionOf } from './entity-tag.ts';
import type { OperationId, RestOperation } from './openapi/document.ts';
import type { Operations } from './openapi/types.ts';
import type { Call, Handler, RestResponse } from './handler.ts';
import { parseJsonObject } from './json.ts';
import { compileQuery } from './parameters.ts';
import { compileBody } from './schema-check.ts';
import { sendRestResponse } from './send-response.ts';

export interface OperationContext {
  /** The text before every path: empty, or `/v1`. */
  readonly prefix: string;
  readonly stores: { for(caller: Caller): Stores };
  readonly idempotency: IdempotencyService;
  /** The slots for whole collections that are streamed. */
  readonly collectionSlots: CollectionSlots;
}

/** The response to a first request with an Idempotency-Key, as it is stored and replayed. */
type StoredResponse = Pick<RestResponse, 'status' | 'headers'> & { readonly body: string };

/** Carries the operation out, in these stores. */
type Respond = (stores: Stores) => RestResponse | Promise<RestResponse>;

export type Responder = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

/** Compiles an operation of the document and its handler into a route handler, once at the start. */
export function compileOperation<Id extends OperationId>(
  operation: RestOperation<Id>,
  handler: Handler<Id>,
  context: OperationContext,
): Responder {
  const readCall = compileCall(operation, context);
  const { inserts: isInsertion } = operation;
  const takesKey = operation.parameters.some(({ name }) => name === 'Idempotency-Key');
  return async (request, reply) => {
    const call = outcomeOf(() => readCall(request));
    const { principal } = request;
    const respond: Respond = (inStores) => handler(call(), new Services(inStores, principal));
    const key = takesKey ? readIdempotencyKey(request.raw) : undefined;
    const stores = context.stores.for(request.caller);
    const identity =
      key === undefined
        ? undefined
        : { principalId: principal.id, key, fingerprint: fingerprintOf(request), isInsertion };
    // The bytes are let go of before anything is waited for.
    request.body = undefined;
    const response =
      identity === undefined ? await respond(stores) : await respondOnce(identity, stores, context, respond);
    return sendRestResponse(request, reply, response, context.collectionSlots);
  };
}

/** Reads the call of a request. The document's schemas have checked its query and its body. */
function compileCall<Id extends OperationId>(
  { parameters, body, path: template }: RestOperation<Id>,
  { prefix }: OperationContext,
): (request: FastifyRequest) => Call<Id> {
  const readQuery = compileQuery(parameters);
  const checkBody = body && compileBody(body.schema);
  const fields = Object.keys(body?.schema.properties ?? {});
  const url = prefix + template;
  return (request) => {
    const { caller, memory } = request;
    const query = readQuery(request.query as Record<string, string | string[]>);
    const parsedBody = checkBody && parseJsonObject(request.body, fields);
    memory.holdParsed(parsedBody);
    const violations = parsedBody === undefined ? [] : checkBody?.(parsedBody);
    if (violations !== undefined && violations.length > 0) throw validationFailed(violations);
    return {
      path: request.params as Operations[Id]['path'],
      query,
      body: parsedBody,
      url,
      prefix,
      isHead: request.method === 'HEAD',
      precondition: preconditionOf(request.headers),
      memory,
      enterTick: () => caller.enterTick(),
    };
  };
}

/** Does the work now; what it throws is thrown when its result is asked for. */
function outcomeOf<Result>(work: () => Result): () => Result {
  try {
    const result = work();
    return () => result;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

/** The stored response to the key, or a new one, which is stored in the transaction that makes its changes. */
async function respondOnce(
  identity: IdempotentCall,
  stores: Stores,
  { idempotency }: OperationContext,
  respond: Respond,
): Promise<RestResponse> {
  const { result: stored, isReplayed } = await idempotency.once(
    stores,
    identity,
    async (inside): Promise<StoredResponse> => {
      const { status, headers, body } = await respond(inside);
      return { status, headers, body: body as string };
    },
  );
  if (!isReplayed) return stored;
  readStored(identity, () => assertResponse(stored));
  return { ...stored, headers: { ...stored.headers, 'idempotent-replayed': 'true' } };
}

/** Headers by which a connection and the length of a response are known: Node sets them, and a handler none. */
const framing = new Set([
  'connection',
  'content-length',
  'date',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Throws unless it can be sent. */
function assertResponse({ status, headers, body }: StoredResponse): void {
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value !== 'string' || framing.has(name.toLowerCase()))
      throw new TypeError(`There is no header ${name} with that value.`);
    validateHeaderName(name);
    validateHeaderValue(name, value);
  }
  if (!Number.isInteger(status) || status < 200 || status > 299) throw new TypeError('The status is no success.');
  if (typeof body !== 'string') throw new TypeError('The body is no text.');
  JSON.parse(body);
}

/** The same for the same method, path with query, and body, byte for byte. */
function fingerprintOf({ method, url, body }: FastifyRequest): string {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.alloc(0);
  return hash('sha256', Buffer.concat([Buffer.from(`${method} ${url}\n`), bytes]), 'base64url');
}
