import { hash } from 'node:crypto';

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { OperationTypeNode } from 'graphql';

import { type Accounts, type Caller, sizeOf } from '../../platform/callers/index.ts';
import { inBackground } from '../../platform/background.ts';
import type { IdempotencyService } from '../../domain/idempotency/idempotency.service.ts';
import { Services, type ServiceOptions } from '../../domain/services.ts';
import type { Stores } from '../../domain/stores.ts';
import { preferredType } from '../../platform/http/index.ts';
import type { ApiRoutes } from '../../http/api.ts';
import { findCompressed } from '../../http/content-coding.ts';
import { deprecationHeaders } from '../../http/deprecation.ts';
import { HttpError } from '../../http/error-table.ts';
import { graphqlTypes } from '../../http/failure-response.ts';
import { readIdempotencyKey } from '../../http/idempotency-key.ts';
import { complexityHeaderName } from '../../http/quota-headers.ts';
import { GraphQLContext } from '../context.ts';
import { NestedQuota } from '../nested-quota.ts';
import type { EventStreams } from '../streams/event-streams.ts';
import { framingFor, namesEventStream, streamTypes } from '../streams/framing.ts';
import { sendSubscription } from '../streams/subscriptions.ts';
import { KeyedWrites } from '../safe-writes/keyed-writes.ts';
import {
  type GraphQLResponse,
  noText,
  notInList,
  onlyByPost,
  otherHash,
  otherId,
  refusalResponse,
  sendGraphQLResponse,
  unknownId,
} from './response.ts';
import { ApolloValidator, type ApolloOptions, type ApolloRefusal } from './apollo.ts';
import { NewDocuments } from './new-documents.ts';
import { type LiftedLiterals, LiftedOperations } from './literals.ts';
import { type DocumentOptions, Documents, operationKey, type KnownOperation } from './documents.ts';
import { asGraphQLError } from './errors.ts';
import { executeOperation, type ExecutionOptions, type OperationCall } from './execution.ts';
import { HiddenSchema } from './hidden-schema.ts';
import { namedIn } from './variables.ts';
import { isById, parseGraphQLBody, readRequest, type GraphQLRequest } from './request.ts';

export interface GraphQLServerOptions
  extends Omit<ApolloOptions, 'hidden'>, Omit<ExecutionOptions, 'hidden'>, DocumentOptions {
  readonly accounts: Accounts;
  readonly introspection: boolean;
  readonly stores: { for(caller: Caller): Stores };
  readonly services: ServiceOptions;
  readonly idempotency: IdempotencyService;
  readonly streams: EventStreams;
  readonly limits: ApolloOptions['limits'] & ExecutionOptions['limits'];
}

export interface GraphQLServer {
  /** Adds `/graphql` to the API. */
  readonly routes: ApiRoutes;
  readonly stop: () => Promise<void>;
}

const deprecationsPage = '/docs/graphql/changelog';

const webSocketRefusal =
  'Subscriptions come over text/event-stream or multipart/mixed, not over a WebSocket: send POST requests.';

/** A request may keep so much of variables that its operation perhaps doesn't declare, while it waits to be validated. */
const maxUndeclaredBytes = 64 * 1024;

/** The parts of a request that its document is validated with. */
interface ReadRequest {
  readonly text: string;
  readonly operationName: string | undefined;
  readonly key: string;
  readonly known: KnownOperation | undefined;
  /** What the known operation was prepared without. */
  readonly lifted: LiftedLiterals | undefined;
  /** The variables that its operation declares, or may declare. */
  readonly variables: Readonly<Record<string, unknown>>;
  readonly bytes: number;
  /** The hash under which the text is kept if it is valid. */
  readonly sha256: string | undefined;
}

/** Runs a known operation; a new document goes to Apollo Server first, and is cached when it comes again. */
export async function createGraphQLServer(options: GraphQLServerOptions): Promise<GraphQLServer> {
  const endpoint = new Endpoint(options);
  await endpoint.start();
  return {
    routes: async (api) => {
      await api.register((scope, _options, done) => {
        acceptJson(scope);
        // A refused body has no computed cost, and costs 1.
        scope.setErrorHandler(async (error, { meter }: FastifyRequest) => {
          await meter?.spend();
          throw error;
        });
        scope.route({
          method: ['GET', 'POST'],
          url: '/graphql',
          // Each root field says which scopes it needs.
          config: { scopes: [], isMeteredByRoute: true, errorFormat: 'graphql', isNeverStored: true },
          onRequest: (request, _reply, next) => next(findUnacceptable(request)),
          // Nothing of it waits for the end of the response, as what returns a reply does: a stream may last an hour.
          handler: (request, reply) => {
            const handled = endpoint.handle(request, reply).catch((error: unknown) => {
              void reply.send(error);
            });
            inBackground(handled);
          },
        });
        done();
      });
    },
    stop: () => endpoint.validator.stop(),
  };
}

class Endpoint {
  readonly validator: ApolloValidator;
  readonly documents: Documents;
  readonly #options: GraphQLServerOptions & ExecutionOptions;
  readonly #nestedQuota = new NestedQuota();
  readonly #newDocuments: NewDocuments;
  /** Validation says what is wrong with a hidden schema in its own words: nothing passes it by. */
  readonly #lifted: LiftedOperations | undefined;

  constructor(options: GraphQLServerOptions) {
    const hidden = options.introspection ? undefined : new HiddenSchema(options.schema);
    this.#options = { ...options, hidden };
    this.documents = new Documents(options.accounts);
    this.#newDocuments = new NewDocuments(options.accounts, options.onRefusal);
    this.validator = new ApolloValidator({ ...options, hidden });
    this.#lifted = hidden === undefined ? new LiftedOperations() : undefined;
  }

  async start(): Promise<void> {
    const { documentsPath, limits } = this.#options;
    await this.validator.start();
    if (documentsPath !== undefined) await this.documents.load(documentsPath, this.validator, limits);
  }

  async handle(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const key = request.method === 'POST' ? readIdempotencyKey(request.raw) : undefined;
    const found = await this.#find(request);
    if ('status' in found) return this.#refuse(found, request, reply);
    const { kind } = found.operation.prepared;
    // Every valid operation has one, also if it is refused before it is executed.
    void reply.header(complexityHeaderName, String(found.measured.complexity));
    announce(found.operation.deprecated, request, reply);
    if (request.method !== 'POST' && kind !== OperationTypeNode.QUERY)
      return this.#refuse(onlyByPost(kind), request, reply);
    if (kind === OperationTypeNode.SUBSCRIPTION)
      return sendSubscription(found, request, reply, this.#options.streams, this.#options);
    const { accept } = request.headers;
    if (preferredType(accept, graphqlTypes) === undefined && !namesEventStream(accept))
      return this.#refuse(refusalResponse(asGraphQLError(notAcceptable(accept))), request, reply);
    return this.#execute(found, key, request, reply);
  }

  /** The operation that a request asks for, or its refusal. From here on nothing else of the request's text is kept. */
  async #find(request: FastifyRequest): Promise<OperationCall | GraphQLResponse> {
    const read = this.#read(request);
    if ('status' in read) return read;
    const { known, lifted, text, sha256, variables, bytes } = read;
    const operation = known ?? (await this.#validate(read, request));
    if ('errors' in operation) return refusalResponse(...operation.errors);
    if (sha256 !== undefined) this.documents.keep(sha256, text, request.caller);
    const declared = known === undefined ? operation.variables.of(variables) : variables;
    const bytesOfText = lifted === undefined ? 0 : 2 * text.length;
    request.memory.holdParsed(declared, known === undefined ? operation.bytes : bytesOfText);
    return { operation, measured: operation.measures.for(declared), variables: declared, lifted, bytes };
  }

  /** Reads the request, and drops its body. */
  #read(request: FastifyRequest): ReadRequest | GraphQLResponse {
    let parsed: GraphQLRequest;
    let requested: ReturnType<Documents['requestedBy']>;
    try {
      parsed = readRequest(request);
      requested = this.documents.requestedBy(parsed);
    } catch (error) {
      return refusalResponse(asGraphQLError(error));
    } finally {
      request.body = undefined;
    }
    const { query, documentId, sha256, variables = {}, bytes } = parsed;
    const { text, operationName } = requested;
    const key = operationKey(text ?? '', operationName);
    if (this.#options.documentsOnly === true && !this.documents.isTrusted(key)) return notInList;
    if (text === undefined) return isById(parsed) ? unknownId : noText;
    const isHashSent = query !== undefined && sha256 !== undefined;
    if (isHashSent && hash('sha256', query) !== sha256) return otherHash;
    if (query !== undefined && documentId !== undefined && !this.documents.isIdOf(documentId, query)) return otherId;
    const found = this.documents.find(key);
    const lifted = found === undefined ? this.#lifted?.find(text, operationName) : undefined;
    const known = found ?? lifted?.operation;
    const read = { text, operationName, key, known, lifted, bytes, sha256: isHashSent ? sha256 : undefined };
    if (known !== undefined) return { ...read, variables: known.variables.of(variables) };
    // The request may wait to be validated.
    request.memory.holdParsed(variables, 2 * text.length);
    return { ...read, variables: sizeOf(variables) > maxUndeclaredBytes ? namedIn(text, variables) : variables };
  }

  async #validate(
    { text, operationName, key }: ReadRequest,
    { caller, meter }: FastifyRequest,
  ): Promise<KnownOperation | ApolloRefusal> {
    const validation = await this.#newDocuments.run(
      caller,
      () => meter.requireLeft(),
      async () => {
        // Another request may have made it known meanwhile.
        const validated = this.documents.find(key) ?? (await this.validator.validate(text, operationName));
        if (!('errors' in validated)) this.#lifted?.add(text, operationName, validated);
        return validated;
      },
    );
    if (!('errors' in validation)) this.documents.add(key, validation);
    return validation;
  }

  async #execute(
    call: OperationCall,
    key: string | undefined,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<void> {
    const { idempotency } = this.#options;
    const stores = this.#options.stores.for(request.caller);
    const services = new Services(stores, request.principal, this.#options.services);
    const keyed = key === undefined ? undefined : new KeyedWrites(idempotency, stores, request.principal.id, key);
    const context = new GraphQLContext(stores, services, this.#nestedQuota, request, { keyed });
    const response = await executeOperation(call, context, this.#options);
    sendGraphQLResponse(request, reply, response);
  }

  async #refuse(refusal: GraphQLResponse, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { codes } = refusal;
    request.graphql = { codes };
    this.#options.onErrors('none', codes);
    await request.meter.spend();
    sendGraphQLResponse(request, reply, refusal);
  }
}

/** Of several the one that goes first. */
function announce(deprecated: KnownOperation['deprecated'], request: FastifyRequest, reply: FastifyReply): void {
  const [first] = deprecated;
  if (first === undefined) return;
  request.deprecated = deprecated;
  void reply.headers(deprecationHeaders({ ...first, page: deprecationsPage }));
}

function findUnacceptable({ headers }: FastifyRequest): HttpError | undefined {
  const { accept, upgrade } = headers;
  if (upgrade?.toLowerCase() === 'websocket') {
    return new HttpError('BAD_REQUEST', webSocketRefusal);
  }
  const isAcceptable = (preferredType(accept, graphqlTypes) ?? framingFor(accept)) !== undefined;
  return isAcceptable ? findCompressed(headers) : notAcceptable(accept);
}

function notAcceptable(accept: string | undefined): HttpError {
  const offered = `The Accept header allows neither ${graphqlTypes.join(' nor ')}; subscriptions need ${streamTypes}`;
  const isMultipart = accept?.includes('multipart/mixed') === true;
  return new HttpError('NOT_ACCEPTABLE', `${offered}${isMultipart ? ', and @defer and @stream are not offered' : ''}.`);
}

function acceptJson(scope: FastifyInstance): void {
  scope.addContentTypeParser('application/json', (request, payload, done) => {
    request.server.bodies.read(request, payload, (error, bytes) => {
      if (error !== null) return done(error);
      const body = parseGraphQLBody(bytes);
      return 'value' in body ? done(null, body) : done(body);
    });
  });
  scope.addContentTypeParser('multipart/form-data', (_request, _payload, done) => {
    const message = 'File uploads (multipart/form-data) are not offered: send application/json.';
    done(new HttpError('UNSUPPORTED_MEDIA_TYPE', message));
  });
}
