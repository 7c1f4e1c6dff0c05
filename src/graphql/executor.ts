import {
  BREAK,
  execute,
  GraphQLError,
  Kind,
  visit,
  type DocumentNode,
  type ExecutionResult,
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

/** A valid document, what is asked of it, and what its resolvers share. */
export interface ExecutionRequest {
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

type Compiled = CompiledQuery['query'];

interface KnownOperation {
  uses: number;
  /** Null when it can't be compiled. */
  compiled: Compiled | null | undefined;
}

/**
 * Executes operations: one that is used again, and that graphql-jit understands as graphql-js does, is compiled to JavaScript,
 * which calls the same resolvers with a third of the work; any other runs through graphql-js.
 *
 * What is compiled lives as long as Apollo remembers the document.
 */
export function createExecutor(schema: GraphQLSchema): Executor {
  const known = new WeakMap<DocumentNode, Map<string, KnownOperation>>();

  const knownAs = (document: DocumentNode, operationName: string): KnownOperation => {
    const operations = getOrAdd(known, document, () => new Map<string, KnownOperation>());
    return getOrAdd(operations, operationName, () => ({ uses: 0, compiled: undefined }));
  };

  return async ({ document, operation, request: { operationName, variables }, context }) => {
    const executeAnew = (): ReturnType<typeof execute> =>
      execute({ schema, document, contextValue: context, variableValues: variables, operationName });
    // graphql-js says which operation there isn't.
    if (operation === undefined) return executeAnew();
    const entry = knownAs(document, operation.name?.value ?? '');
    entry.uses += 1;
    if (entry.compiled === undefined && entry.uses > usesBeforeCompiling) {
      entry.compiled = isCompilable(document) ? compile(schema, document, operation) : null;
    }
    const { compiled } = entry;
    if (compiled) {
      const { data, errors } = await compiled(undefined, context, variables);
      if (errors === undefined) return { data: data ?? null };
      if (data !== undefined) return { data, errors: errors.map((error) => completed(error, document, operation)) };
      // Nothing has been executed, because of the variables.
    }
    const result = await executeAnew();
    if (result.data === undefined) {
      // Of wrong variables we have more to say than graphql-js.
      coerceVariables({ schema, document, operation }, variables ?? {});
    } else if (compiled) {
      // They are right: graphql-jit knows nothing of the defaults inside them.
      entry.compiled = null;
    }
    return result;
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

/**
 * Whether graphql-jit does the same as graphql-js: it loses track of directives on fragments, takes a variable that is left out inside
 * a literal for null, and makes a field named `__proto__` the prototype of its object.
 */
function isCompilable(document: DocumentNode): boolean {
  if (document.loc?.source.body.includes('__proto__') !== false) return false;
  let isAlike = true;
  const refuse = (): typeof BREAK => {
    isAlike = false;
    return BREAK;
  };
  visit(document, {
    Directive: refuse,
    ObjectField: ({ value }) => (value.kind === Kind.VARIABLE ? refuse() : undefined),
    ListValue: ({ values }) => (values.some(({ kind }) => kind === Kind.VARIABLE) ? refuse() : undefined),
  });
  return isAlike;
}

function compile(schema: GraphQLSchema, document: DocumentNode, { name }: OperationDefinitionNode): Compiled | null {
  const result = compileQuery(schema, document, name?.value ?? '', { disablingCapturingStackErrors: true });
  return isCompiledQuery(result) ? result.query : null;
}

/** graphql-jit leaves out which fields of the document an error belongs to. */
function completed(
  { message, path, originalError }: GraphQLError,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): GraphQLError {
  if (path === undefined) return new GraphQLError(message, { originalError });
  const fields = fieldsAt(
    document,
    operation,
    path.filter((key) => typeof key === 'string'),
  );
  // graphql-js points at the argument that is wrong.
  const argument = originalError === undefined ? /^Argument "(\w+)" /.exec(message)?.[1] : undefined;
  const values = fields.flatMap(({ arguments: args = [] }) => args.filter(({ name }) => name.value === argument));
  return new GraphQLError(message, { nodes: values[0]?.value ?? fields, path, originalError });
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
  const found = others.reduce(
    (fields, name) => fields.flatMap((field) => fieldsIn(field, name)),
    fieldsIn(operation, first),
  );
  return [...new Set(found)];
}

function fragmentNamed(document: DocumentNode, name: string): FragmentDefinitionNode | undefined {
  return document.definitions.find(
    (definition) => definition.kind === Kind.FRAGMENT_DEFINITION && definition.name.value === name,
  ) as FragmentDefinitionNode | undefined;
}
