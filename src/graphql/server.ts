import { ApolloServer, HeaderMap, type ApolloServerPlugin } from '@apollo/server';
import { ApolloServerPluginCacheControlDisabled } from '@apollo/server/plugin/disabled';
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { GraphQLSchema } from 'graphql';

import type { Services } from '../domain/services.ts';
import { describeFailure } from '../http/error-table.ts';
import { parseGraphQLBody } from './body.ts';
import { GraphQLContext } from './context.ts';
import { findUnavailable, formatError, isInternalError } from './errors.ts';
import { assertWithinLimits, type QueryLimits } from './limits.ts';

export interface GraphQLServerOptions {
  readonly schema: GraphQLSchema;
  readonly services: Services;
  readonly introspection: boolean;
  readonly limits: QueryLimits & { readonly maxTokens: number };
  readonly log: FastifyBaseLogger;
}

export interface GraphQLServer {
  /** Adds `/graphql` to the API. */
  readonly routes: (api: FastifyInstance) => Promise<void>;
  stop(): Promise<void>;
}

/** Apollo Server behind a thin HTTP layer: GraphQL over HTTP by POST, and by GET for queries. */
export async function createGraphQLServer(options: GraphQLServerOptions): Promise<GraphQLServer> {
  const { services, limits } = options;
  const apollo = new ApolloServer<GraphQLContext>({
    schema: options.schema,
    introspection: options.introspection,
    // A key is never sent by a browser of its own accord, so its presence rules out a forged request from another site.
    csrfPrevention: { requestHeaders: ['authorization', 'x-api-key', 'apollo-require-preflight'] },
    parseOptions: { maxLexicalTokens: limits.maxTokens },
    validationOptions: { maxErrors: 20 },
    hideSchemaDetailsFromClientErrors: true,
    includeStacktraceInErrorResponses: false,
    persistedQueries: false,
    allowBatchedHttpRequests: false,
    stopOnTerminationSignals: false,
    logger: apolloLogger(options.log),
    formatError,
    plugins: [ApolloServerPluginCacheControlDisabled(), limitsPlugin(limits), failuresPlugin],
  });
  await apollo.start();
  return {
    routes: async (api) => {
      await api.register((scope, _options, done) => {
        scope.removeAllContentTypeParsers();
        scope.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, text, parsed) => {
          try {
            parsed(null, parseGraphQLBody(String(text)));
          } catch (error) {
            parsed(error as Error);
          }
        });
        scope.route({
          method: ['GET', 'POST'],
          url: '/graphql',
          handler: (request, reply) => execute(apollo, services, request, reply),
        });
        done();
      });
    },
    stop: () => apollo.stop(),
  };
}

async function execute(
  apollo: ApolloServer<GraphQLContext>,
  services: Services,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const response = await apollo.executeHTTPGraphQLRequest({
    httpGraphQLRequest: {
      method: request.method,
      headers: headerMapOf(request),
      body: request.body ?? '',
      search: new URL(request.url, 'http://localhost').search,
    },
    context: () => Promise.resolve(new GraphQLContext(services, request.log)),
  });
  void reply.code(response.status ?? 200);
  for (const [name, value] of response.headers) void reply.header(name, value);
  void reply.header('cache-control', 'no-store');
  if (response.body.kind === 'complete') return reply.send(response.body.string);
  throw new TypeError('Incremental delivery is not offered by this schema.');
}

function headerMapOf({ headers }: FastifyRequest): HeaderMap {
  const map = new HeaderMap();
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) map.set(name, Array.isArray(value) ? value.join(', ') : value);
  }
  return map;
}

/** Runs when the operation is valid and its variables are there, before anything is executed. */
function limitsPlugin(limits: QueryLimits): ApolloServerPlugin<GraphQLContext> {
  return {
    requestDidStart: () =>
      Promise.resolve({
        didResolveOperation: ({ schema, document, operation, request }) => {
          const variables = request.variables ?? {};
          if (operation !== undefined) assertWithinLimits({ schema, document, operation, variables }, limits);
          return Promise.resolve();
        },
      }),
  };
}

/** Logs what nobody has foreseen, whole, and answers a lost database as HTTP can tell it. */
const failuresPlugin: ApolloServerPlugin<GraphQLContext> = {
  requestDidStart: () =>
    Promise.resolve({
      didEncounterErrors: ({ errors, contextValue }) => {
        for (const error of errors.filter(isInternalError)) {
          contextValue.log.error({ err: error.originalError ?? error, path: error.path }, 'internal error');
        }
        return Promise.resolve();
      },
      willSendResponse: ({ errors = [], response, contextValue }) => {
        const unavailable = findUnavailable(errors);
        if (unavailable !== undefined) {
          const { status, headers } = describeFailure(unavailable);
          contextValue.log.warn({ err: unavailable.cause }, 'unavailable');
          response.http.status = status;
          for (const [name, value] of Object.entries(headers)) response.http.headers.set(name, value);
        }
        return Promise.resolve();
      },
    }),
};

function apolloLogger(
  log: FastifyBaseLogger,
): Record<'debug' | 'info' | 'warn' | 'error', (message?: unknown) => void> {
  return {
    debug: (message) => log.debug(String(message)),
    info: (message) => log.debug(String(message)),
    warn: (message) => log.warn(String(message)),
    error: (message) => log.error(String(message)),
  };
}
