import {
  execute,
  type DocumentNode,
  type ExecutionResult,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';

import type { GraphQLContext } from '../context.ts';
import { coerceVariables } from './input-errors.ts';

/** A valid document, the operation to execute, and what its resolvers share. */
interface ExecutionRequest {
  readonly document: DocumentNode;
  /** Undefined when the document has none of that name. */
  readonly operation: OperationDefinitionNode | undefined;
  readonly request: {
    readonly operationName?: string | undefined;
    readonly variables?: Readonly<Record<string, unknown>> | undefined;
  };
  readonly context: GraphQLContext;
}

export type Executor = (request: ExecutionRequest) => Promise<ExecutionResult>;

/** Executes operations with graphql-js. Nothing that a client sends becomes code. */
export function createExecutor(schema: GraphQLSchema): Executor {
  return async ({ document, operation, request: { operationName, variables }, context }) => {
    const result = await execute({
      schema,
      document,
      contextValue: context,
      variableValues: variables,
      operationName,
    });
    // Without data the variables are wrong, of which we report more than graphql-js does.
    if (result.data === undefined && operation !== undefined) {
      coerceVariables({ schema, document, operation }, variables ?? {});
    }
    return result;
  };
}
