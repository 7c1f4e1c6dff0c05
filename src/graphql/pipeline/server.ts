import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { GraphQLError, OperationTypeNode } from 'graphql';

import type { Services } from '../../domain/services.ts';
import { preferredType } from '../../http/accept.ts';
import type { ApiRoutes } from '../../http/api.ts';
import { HttpError } from '../../http/error-table.ts';
import { GraphQLContext } from '../context.ts';
import { NestedQuota } from '../nested-quota.ts';
import { refusalAnswer, type Answer } from './answer.ts';
import { ApolloJudge, type ApolloOptions } from './apollo.ts';
import { Documents, type DocumentOptions } from './documents.ts';
import { executeOperation, type ExecutionOptions } from './execution.ts';
import type { KnownOperation } from './operation-cache.ts';
import { PersistedTexts } from './persisted-texts.ts';
import { forApollo, parseGraphQLBody, readRequest, type GraphQLRequest } from './request.ts';

export interface GraphQLServerOptions extends Omit<ApolloOptions, 'texts'>, ExecutionOptions, DocumentOptions {
  readonly services: Services;
  readonly limits: ApolloOptions['limits'] & ExecutionOptions['limits'];
}

export interface GraphQLServer {
  /** Adds `/graphql` to the API. */
  readonly routes: ApiRoutes;
  readonly stop: () => Promise<void>;
}

const mediaTypes = ['application/json', 'application/graphql-response+json'] as const;

/**
 * GraphQL over HTTP: by POST, and by GET and HEAD for queries.
 *
 * A request whose operation is known runs it. Any other goes to Apollo Server first, which refuses it or returns its
 * operation, which is then executed in the same way, and cached.
 */
export async function createGraphQLServer(options: GraphQLServerOptions): Promise<GraphQLServer> {
  const endpoint = new Endpoint(options);
  await endpoint.start();
  return {
    routes: async (api) => {
      await api.register((scope, _options, done) => {
        takeJson(scope);
        // A refused body has no computed cost, and costs 1.
        scope.setErrorHandler(async (error, { meter }: FastifyRequest) => {
          await meter?.take();
          throw error;
        });
        scope.route({
          method: ['GET', 'POST'],
          url: '/graphql',
          config: { isPricedByRoute: true, errorFormat: 'graphql', isNeverStored: true },
          onRequest: (request, _reply, next) => next(findUnacceptable(request)),
          handler: (request, reply) => endpoint.handle(request, reply),
        });
        done();
      });
    },
    stop: () => endpoint.judge.stop(),
  };
}

class Endpoint {
  readonly judge: ApolloJudge;
  readonly documents: Documents;
  readonly #options: GraphQLServerOptions;
  readonly #nestedQuota = new NestedQuota();

  constructor(options: GraphQLServerOptions) {
    const texts = new PersistedTexts();
    this.#options = options;
    this.documents = new Documents(texts);
    this.judge = new ApolloJudge({ ...options, texts });
  }

  async start(): Promise<void> {
    const { documentsPath, limits } = this.#options;
    await this.judge.start();
    if (documentsPath !== undefined) await this.documents.load(documentsPath, this.judge, limits);
  }

  async handle(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const asked = readRequest(request);
    const text = asked && this.documents.textOf(asked);
    const known = asked && this.#find(asked, text, request.method);
    if (asked !== undefined && known !== undefined) return this.#execute(known, asked.variables ?? {}, request, reply);
    if (!this.#isAllowed(text, asked?.operationName)) return this.#refuse(notInList, request, reply);
    const isById = asked !== undefined && asked.query === undefined && (asked.documentId ?? asked.sha256) !== undefined;
    const judgement = await this.judge.judge(isById ? forApollo(request, asked, text) : request);
    if (!judgement.isAdmitted) return this.#refuse(judgement, request, reply);
    const { operation, operationName, variables } = judgement;
    this.documents.add(judgement.text, operationName, operation);
    return this.#execute(operation, variables, request, reply);
  }

  /** Finds a known operation: only queries by GET, and no text that must be compared with a hash. */
  #find(
    { operationName, query, sha256 }: GraphQLRequest,
    text: string | undefined,
    method: string,
  ): KnownOperation | undefined {
    if (text === undefined || !this.#isAllowed(text, operationName)) return undefined;
    if (query !== undefined && sha256 !== undefined) return undefined;
    const operation = this.documents.find(text, operationName);
    return method === 'POST' || operation?.prepared.kind === OperationTypeNode.QUERY ? operation : undefined;
  }

  #isAllowed(text: string | undefined, operationName: string | undefined): boolean {
    return this.#options.documentsOnly !== true || this.documents.isTrusted(text, operationName);
  }

  async #execute(
    operation: KnownOperation,
    variables: Readonly<Record<string, unknown>>,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<FastifyReply> {
    const context = new GraphQLContext(this.#options.services, this.#nestedQuota, request);
    const { status, headers, body } = await executeOperation(operation, variables, context, this.#options);
    return send(reply, status, { 'content-type': contentType(request), ...headers }, body);
  }

  async #refuse(
    { status, headers, body }: Pick<Answer, 'status' | 'headers' | 'body'>,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<FastifyReply> {
    const codes = codesIn(body);
    request.graphql = { codes };
    this.#options.onErrors('none', codes);
    await request.meter.take();
    return send(reply, status, { 'content-type': contentType(request), ...headers }, body);
  }
}

/** Of a response of Apollo's. */
function codesIn(body: string): readonly string[] {
  const { errors } = JSON.parse(body) as {
    readonly errors: readonly { readonly extensions: { readonly code: string } }[];
  };
  return errors.map(({ extensions }) => extensions.code);
}

function send(
  reply: FastifyReply,
  status: number,
  headers: Readonly<Record<string, string>>,
  body: string,
): FastifyReply {
  return reply.code(status).headers(headers).header('cache-control', 'no-store').send(body);
}

const notInListError = new GraphQLError(
  'Only the operations of a list are offered here: ask for one of them by its id.',
  {
    extensions: { code: 'PERSISTED_QUERY_NOT_IN_LIST', http: { status: 400 } },
  },
);

const notInList = refusalAnswer(notInListError);

function contentType({ headers: { accept } }: FastifyRequest): string {
  return `${preferredType(accept, mediaTypes) ?? mediaTypes[0]}; charset=utf-8`;
}

function findUnacceptable({
  headers: { accept, 'content-encoding': encoding, upgrade },
}: FastifyRequest): HttpError | undefined {
  if (upgrade?.toLowerCase() === 'websocket') {
    return new HttpError('BAD_REQUEST', 'Subscriptions are not offered, so there is no WebSocket: send POST requests.');
  }
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    return new HttpError(
      'UNSUPPORTED_MEDIA_TYPE',
      'The body must not be compressed: send it without Content-Encoding.',
    );
  }
  if (preferredType(accept, mediaTypes) !== undefined) return undefined;
  const offered = `The Accept header allows neither ${mediaTypes.join(' nor ')}`;
  if (accept?.includes('text/event-stream') === true) {
    return new HttpError(
      'NOT_ACCEPTABLE',
      `${offered}: subscriptions are not offered, so there is no text/event-stream.`,
    );
  }
  if (accept?.includes('multipart/mixed') === true) {
    return new HttpError(
      'NOT_ACCEPTABLE',
      `${offered}: @defer and @stream are not offered, so there is no multipart/mixed.`,
    );
  }
  return new HttpError('NOT_ACCEPTABLE', `${offered}.`);
}

function takeJson(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, text, done) => {
    try {
      done(null, parseGraphQLBody(String(text)));
    } catch (error) {
      done(error as Error);
    }
  });
  scope.addContentTypeParser('multipart/form-data', (_request, _payload, done) => {
    const message = 'File uploads (multipart/form-data) are not offered: send application/json.';
    done(new HttpError('UNSUPPORTED_MEDIA_TYPE', message));
  });
}
