import type { ApolloServerOptionsWithGateway } from '@apollo/server';
import {
  execute,
  GraphQLError,
  Kind,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';
import { compileQuery, isCompiledQuery, type CompiledQuery } from 'graphql-jit';

import type { GraphQLContext } from './context.ts';
import { coerceVariables } from './input-errors.ts';

/** Compiling takes some milliseconds: only an operation that is used again earns that back. */
const usesBeforeCompiling = 2;

type Gateway = ApolloServerOptionsWithGateway<GraphQLContext>['gateway'];
type GatewayExecutor = NonNullable<Awaited<ReturnType<Gateway['load']>>['executor']>;
type Compiled = CompiledQuery['query'];

interface KnownOperation {
  uses: number;
  /** Null when it can't be compiled. */
  compiled: Compiled | null | undefined;
}

/**
 * Executes operations for Apollo Server: one that is used again is compiled to JavaScript by graphql-jit, which calls the same
 * resolvers with a third of the work; any other runs through graphql-js.
 *
 * What is compiled lives as long as Apollo remembers the document.
 */
export function compilingExecutor(schema: GraphQLSchema): Gateway {
  const known = new WeakMap<DocumentNode, Map<string, KnownOperation>>();

  const compiledFor = (document: DocumentNode, operationName: string): Compiled | null => {
    const operations = getOrAdd(known, document, () => new Map<string, KnownOperation>());
    const operation = getOrAdd(operations, operationName, () => ({ uses: 0, compiled: undefined }));
    operation.uses += 1;
    if (operation.uses <= usesBeforeCompiling) return null;
    if (operation.compiled === undefined) operation.compiled = compile(schema, document, operationName);
    return operation.compiled;
  };

  const executor: GatewayExecutor = async ({ document, operation, request, context }) => {
    const { variables, operationName } = request;
    const compiled = compiledFor(document, operation?.name?.value ?? '');
    const result = await (compiled === null
      ? execute({ schema, document, contextValue: context, variableValues: variables, operationName })
      : compiled(undefined, context, variables));
    if (result.errors === undefined) return result;
    // Nothing has been executed: when it is the variables that are wrong, we know better words for it.
    if (result.data === undefined && operation !== undefined)
      coerceVariables({ schema, document, operation }, variables ?? {});
    if (compiled === null) return result;
    return { ...result, errors: result.errors.map((error) => completed(error, document, operation)) };
  };

  return {
    load: () => Promise.resolve({ executor }),
    onSchemaLoadOrUpdate: (callback) => {
      callback({ apiSchema: schema, coreSupergraphSdl: '' });
      return () => undefined;
    },
    stop: () => Promise.resolve(),
  };
}

function getOrAdd<Key extends WeakKey | string, Value>(
  map: { get(key: Key): Value | undefined; set(key: Key, value: Value): unknown },
  key: Key,
  make: () => Value,
): Value {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}

function compile(schema: GraphQLSchema, document: DocumentNode, operationName: string): Compiled | null {
  const result = compileQuery(schema, document, operationName, { disablingCapturingStackErrors: true });
  return isCompiledQuery(result) ? result.query : null;
}

/** graphql-jit leaves out which fields of the document an error belongs to. */
function completed(
  { message, path, originalError }: GraphQLError,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): GraphQLError {
  if (path === undefined) return new GraphQLError(message, { originalError });
  const names = path.filter((key) => typeof key === 'string');
  return new GraphQLError(message, { nodes: fieldsAt(document, operation, names), path, originalError });
}

/** The fields that answer under these names, one inside the other, merged ones all. */
function fieldsAt(document: DocumentNode, operation: OperationDefinitionNode, names: readonly string[]): FieldNode[] {
  const fieldsIn = ({ selectionSet }: Pick<FieldNode, 'selectionSet'>, name: string): FieldNode[] =>
    (selectionSet?.selections ?? []).flatMap((selection) => {
      if (selection.kind === Kind.FIELD) return (selection.alias ?? selection.name).value === name ? [selection] : [];
      const fragment =
        selection.kind === Kind.INLINE_FRAGMENT ? selection : fragmentNamed(document, selection.name.value);
      return fragment === undefined ? [] : fieldsIn(fragment, name);
    });
  const [first = '', ...others] = names;
  return others.reduce((fields, name) => fields.flatMap((field) => fieldsIn(field, name)), fieldsIn(operation, first));
}

function fragmentNamed(document: DocumentNode, name: string): FragmentDefinitionNode | undefined {
  return document.definitions.find(
    (definition) => definition.kind === Kind.FRAGMENT_DEFINITION && definition.name.value === name,
  ) as FragmentDefinitionNode | undefined;
}
