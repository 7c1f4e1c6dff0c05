import type { ApolloServerOptionsWithGateway, ApolloServerPlugin } from '@apollo/server';
import type { ExecutionResult, GraphQLSchema } from 'graphql';

import type { GraphQLContext } from '../context.ts';
import type { Executor } from './executor.ts';
import { listening } from './plugins.ts';

export interface Execution {
  readonly plugin: ApolloServerPlugin<GraphQLContext>;
  readonly gateway: ApolloServerOptionsWithGateway<GraphQLContext>['gateway'];
}

/**
 * Has Apollo Server execute operations with our executor.
 *
 * Its hook for that is the gateway, but what it hands over there has accessors of its own for each request, which keep the whole request
 * from being freed before the next full garbage collection. So a result without errors goes another way, as a plugin's response; one
 * with errors is kept for the gateway, behind which Apollo formats them.
 */
export function executeWith(executor: Executor, schema: GraphQLSchema): Execution {
  const flawed = new WeakMap<GraphQLContext, Promise<ExecutionResult>>();
  return {
    plugin: listening({
      responseForOperation: async ({ document, operation, request, contextValue: context, response: { http } }) => {
        const execution = executor({ document, operation, request, context });
        const result = await execution.catch(() => undefined);
        if (result !== undefined && result.errors === undefined) {
          return { http, body: { kind: 'single', singleResult: { data: result.data ?? null } } };
        }
        flawed.set(context, execution);
        return null;
      },
    }),
    gateway: {
      load: () =>
        Promise.resolve({
          executor: ({ context }) => flawed.get(context as GraphQLContext) as Promise<ExecutionResult>,
        }),
      onSchemaLoadOrUpdate: (callback) => {
        callback({ apiSchema: schema, coreSupergraphSdl: '' });
        return () => undefined;
      },
      stop: () => Promise.resolve(),
    },
  };
}
