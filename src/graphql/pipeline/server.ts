import type { IncomingHttpHeaders } from 'node:http';

import { ApolloServer, HeaderMap } from '@apollo/server';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginInlineTraceDisabled,
  ApolloServerPluginLandingPageDisabled,
  ApolloServerPluginSchemaReportingDisabled,
  ApolloServerPluginUsageReportingDisabled,
} from '@apollo/server/plugin/disabled';
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { GraphQLSchema } from 'graphql';

import type { Services } from '../../domain/services.ts';
import { isAcceptable } from '../../http/accept.ts';
import type { ApiRoutes } from '../../http/api.ts';
import { HttpError } from '../../http/error-table.ts';
import { exactSearch, parseGraphQLBody } from './body.ts';
import { GraphQLContext } from '../context.ts';
import { createDocuments } from './documents.ts';
import { formatError } from './errors.ts';
import { executeWith } from './execution.ts';
import { createExecutor } from './executor.ts';
import type { QueryLimits } from './limits.ts';
import { NestedQuota } from '../nested-quota.ts';
import { admission, failures } from './plugins.ts';

export interface GraphQLServerOptions {
  readonly schema: GraphQLSchema;
  readonly services: Services;
  readonly introspection: boolean;
  readonly limits: QueryLimits & { readonly maxTokens: number };
  readonly log: FastifyBaseLogger;
}

export interface GraphQLServer {
  /** Adds `/graphql` to the API. */
  readonly routes: ApiRoutes;
  readonly stop: () => Promise<void>;
}

/** What no browser sends to another site of its own accord. */
const headersOfPrograms = ['authorization', 'x-api-key', 'apollo-require-preflight'];

/** All that Apollo reads. */
const headersForApollo = ['content-type', 'accept', ...headersOfPrograms];

/** Apollo Server behind a thin HTTP layer: GraphQL over HTTP by POST, and by GET and HEAD for queries. */
export async function createGraphQLServer(options: GraphQLServerOptions): Promise<GraphQLServer> {
  const apollo = createApollo(options);
  const nestedQuota = new NestedQuota();
  await apollo.start();
  return {
    routes: async (api) => {
      await api.register((scope, _options, done) => {
        takeJson(scope);
        // A body that is refused has no price, and costs 1.
        scope.setErrorHandler(async (error, { meter }: FastifyRequest) => {
          await meter?.take();
          throw error;
        });
        scope.route({
          method: ['GET', 'POST'],
          url: '/graphql',
          config: { isPricedByRoute: true },
          // Apollo asks only when it has executed the operation.
          onRequest: ({ headers }, _reply, next) => next(findUnacceptable(headers)),
          handler: (request, reply) =>
            execute(apollo, new GraphQLContext(options.services, nestedQuota, request), request, reply),
        });
        done();
      });
    },
    stop: () => apollo.stop(),
  };
}

function createApollo(options: GraphQLServerOptions): ApolloServer<GraphQLContext> {
  const { schema, introspection, limits, log } = options;
  const { documentStore, persistedQueries, plugin: documents } = createDocuments();
  const { gateway, plugin: execution } = executeWith(createExecutor(schema), schema);
  return new ApolloServer<GraphQLContext>({
    gateway,
    introspection,
    // A key is never sent by a browser of its own accord, so its presence rules out a forged request from another site.
    csrfPrevention: { requestHeaders: headersOfPrograms },
    parseOptions: { maxLexicalTokens: limits.maxTokens },
    validationOptions: { maxErrors: 20 },
    hideSchemaDetailsFromClientErrors: true,
    includeStacktraceInErrorResponses: false,
    documentStore,
    persistedQueries,
    allowBatchedHttpRequests: false,
    stopOnTerminationSignals: false,
    logger: log,
    formatError,
    plugins: [
      // Without these, Apollo's own environment variables could switch them on.
      ApolloServerPluginCacheControlDisabled(),
      ApolloServerPluginInlineTraceDisabled(),
      ApolloServerPluginLandingPageDisabled(),
      ApolloServerPluginSchemaReportingDisabled(),
      ApolloServerPluginUsageReportingDisabled(),
      // From here on the text of an operation is in `source`, not in its request.
      documents,
      admission(limits),
      execution,
      failures,
    ],
  });
}

function findUnacceptable({ accept }: IncomingHttpHeaders): HttpError | undefined {
  const [json, graphql] = ['application/json', 'application/graphql-response+json'] as const;
  if (isAcceptable(accept, json) || isAcceptable(accept, graphql)) return undefined;
  return new HttpError('NOT_ACCEPTABLE', `The Accept header allows neither ${json} nor ${graphql}.`);
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
}

async function execute(
  apollo: ApolloServer<GraphQLContext>,
  context: GraphQLContext,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const response = await apollo.executeHTTPGraphQLRequest({
    httpGraphQLRequest: {
      // Node leaves the body of an answer to HEAD out by itself.
      method: request.method === 'HEAD' ? 'GET' : request.method,
      headers: headersOf(request),
      body: request.body,
      search: exactSearch(request.url),
    },
    context: () => Promise.resolve(context),
  });
  await request.meter.take();
  if (response.body.kind === 'chunked') throw new HttpError('NOT_ACCEPTABLE', 'Results are not answered in parts.');
  return reply
    .code(response.status ?? 200)
    .headers(Object.fromEntries(response.headers))
    .header('cache-control', 'no-store')
    .send(response.body.string);
}

function headersOf({ headers }: FastifyRequest): HeaderMap {
  const map = new HeaderMap();
  for (const name of headersForApollo) {
    const value = headers[name];
    if (value !== undefined) map.set(name, Array.isArray(value) ? value.join(', ') : value);
  }
  return map;
}
