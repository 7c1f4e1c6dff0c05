import {
  OperationTypeNode,
  SchemaMetaFieldDef,
  TypeMetaFieldDef,
  TypeNameMetaFieldDef,
  type DocumentNode,
  type FieldNode,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';

import { collectFields, fragmentsIn, isIncluded, variablesFor, type Fragments } from './collect-fields.ts';
import { Held, Resolution } from './resolve.ts';
import { errorOf, type Execution, ResultTooLarge, Run, type RunOptions, type Variables } from './run.ts';
import { PreparedField, PreparedSelection } from './selection.ts';
import { type Append, write } from './write.ts';

/** More condition variables than this have too many combinations to cache. */
const maxRememberedConditions = 4;

/** The object that the root fields of queries and mutations belong to. */
const noObject: object = Object.freeze(Object.create(null) as object);

/** The payload of a mutation that was carried out would be too large. */
export class PayloadTooLarge extends Error {
  constructor(name: string, maxBytes: number) {
    super(
      `${name} was carried out, but the response with its payload would be larger than the ${maxBytes} bytes that are allowed.`,
    );
  }
}

/** An operation of a document that is valid for the schema. */
export interface OperationSource {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
}

/** A root field, by its response key, with its arguments, or the error that it will have because they are refused. */
export interface RootCall extends Pick<PreparedField, 'key' | 'definition'> {
  readonly args?: Readonly<Record<string, unknown>>;
  readonly refusal?: Error;
  /** The value of its resolver, with this context; nothing below it is resolved. Throws the refusal of its arguments. */
  readonly call: (context: unknown) => unknown;
}

/** An operation prepared for repeated execution; see the README beside this file. */
export class PreparedOperation {
  readonly kind: OperationTypeNode;
  /** The maximum number of trees that are kept. */
  readonly maxVariants: number;
  readonly #source: OperationSource;
  readonly #conditionNames: readonly string[];
  readonly #variants = new Map<string, PreparedSelection>();

  constructor(source: OperationSource) {
    const { document, operation } = source;
    this.kind = operation.operation;
    this.#source = source;
    // Of `@skip` and `@include`.
    this.#conditionNames = variablesFor(new Set(['if']), document);
    const { length } = this.#conditionNames;
    this.maxVariants = length > maxRememberedConditions ? 1 : 2 ** length;
  }

  /** Executes it. Rejects only because of a bug in this code. */
  async run(options: RunOptions): Promise<Execution> {
    const run = new Run(options);
    const root = this.#variantFor(run.variables);
    const isMutation = this.kind === OperationTypeNode.MUTATION;
    try {
      const text = isMutation ? await serially(root, run) : await together(root, run);
      // The payloads of a mutation have been bounded one by one.
      if (!isMutation) run.sink.assertRoom(text);
      return run.end(text);
    } catch (failure) {
      return run.failed(failure);
    }
  }

  /** The result for an event of a subscription, which is written at once: nothing of it may need resolving. */
  resultOf(event: unknown, options: RunOptions): Execution {
    const run = new Run(options);
    try {
      const root = this.#variantFor(run.variables);
      if (root.needsResolving(false)) throw new TypeError('Fields of events are properties, or computed.');
      const text = root.append('', event, run);
      run.sink.assertRoom(text);
      return run.end(text);
    } catch (failure) {
      return run.failed(failure);
    }
  }

  /** The root fields with these variables, in the order of the response, without introspection. */
  rootCalls(variables: Variables): readonly RootCall[] {
    const run = new Run({ context: undefined, variables, maxBytes: 0 });
    const fields = this.#variantFor(variables).fields.filter(({ name }) => !name.startsWith('__'));
    return fields.map((field) => {
      const { key, definition } = field;
      const call = (context: unknown): unknown => field.callAtRoot(noObject, run, context);
      try {
        return { key, definition, call, args: run.argumentsOf(field) };
      } catch (refusal) {
        return { key, definition, call, refusal: errorOf(refusal) };
      }
    });
  }

  /** The execution in which every root field has failed. */
  failed(variables: Variables, causeOf: (key: string) => unknown): Execution {
    const run = new Run({ context: undefined, variables, maxBytes: Infinity });
    const root = this.#variantFor(variables);
    const failures = root.fields.map(({ key }) => errorOf(causeOf(key)));
    return run.end(root.append('', new Held(root, noObject, failures), run));
  }

  #variantFor(variables: Variables): PreparedSelection {
    const names = this.#conditionNames;
    const key = names.map((name) => variables[name]).join();
    const known = this.#variants.get(key);
    if (known !== undefined) return known;
    const conditions = Object.fromEntries(names.map((name) => [name, variables[name]]));
    const { schema, operation } = this.#source;
    const rootType = schema.getRootType(this.kind) as GraphQLObjectType;
    const root = new PreparedSelection(new Variant(this.#source, conditions), rootType, [operation.selectionSet]);
    const hasRoom = this.#variants.size < this.maxVariants;
    if (hasRoom && names.every((name) => typeof variables[name] === 'boolean')) this.#variants.set(key, root);
    return root;
  }
}

const introspection: readonly GraphQLField<unknown, unknown>[] = [
  TypeNameMetaFieldDef,
  SchemaMetaFieldDef,
  TypeMetaFieldDef,
];

/** An operation with fixed values for its `@skip` and `@include` conditions. */
export class Variant {
  readonly schema: GraphQLSchema;
  readonly operation: OperationDefinitionNode;
  readonly fragments: Fragments;
  /** The variables that its conditions name. */
  readonly #conditions: Readonly<Record<string, unknown>>;
  /** By the first node: the same nodes are prepared once for each type, however many fragments lead to them. */
  readonly #prepared = new Map<FieldNode, readonly PreparedField[]>();

  constructor({ schema, document, operation }: OperationSource, conditions: Readonly<Record<string, unknown>>) {
    this.schema = schema;
    this.operation = operation;
    this.fragments = fragmentsIn(document);
    this.#conditions = conditions;
  }

  /** The fields of a selection. Throws the GraphQLError of a condition that is null. */
  fieldsOf(type: GraphQLObjectType, sets: readonly SelectionSetNode[]): readonly PreparedField[] {
    const collected = collectFields(this, type, sets, (node) => isIncluded(node, this.#conditions));
    return [...collected].map(([key, nodes]) => this.#fieldOf(type, key, nodes));
  }

  #fieldOf(type: GraphQLObjectType, key: string, nodes: readonly [FieldNode, ...FieldNode[]]): PreparedField {
    const [node] = nodes;
    const known = this.#prepared.get(node) ?? [];
    const same = known.find((field) => field.parentType === type && areSame(field.nodes, nodes));
    if (same !== undefined) return same;
    const { value: name } = node.name;
    const definition = introspection.find((field) => field.name === name) ?? type.getFields()[name];
    const field = new PreparedField(this, key, type, definition as GraphQLField<unknown, unknown>, nodes);
    this.#prepared.set(node, [...known, field]);
    return field;
  }
}

function areSame(one: readonly FieldNode[], other: readonly FieldNode[]): boolean {
  return one.length === other.length && one.every((node, index) => node === other[index]);
}

/** Resolves all root fields together, and writes them. Throws ResultTooLarge. */
async function together(root: PreparedSelection, run: Run): Promise<string> {
  const resolution = new Resolution(run);
  const held = root.resolve(noObject, undefined, resolution);
  await resolution.finish();
  return write(root.append, '', held, run);
}

/**
 * Carries out root mutations one after another, each with its whole payload.
 *
 * All of them are executed, even when the response is full: then their fields are null, each with an error that says
 * so.
 */
async function serially(root: PreparedSelection, run: Run): Promise<string> {
  const { sink } = run;
  const values: unknown[] = [];
  const held = new Held(root, noObject, values);
  let isFull = false;
  let text = '';
  for (const [index, field] of root.fields.entries()) {
    const { name } = field;
    const resolution = new Resolution(run);
    if (field.needsResolving(false)) field.resolve(held, index, undefined, resolution);
    await resolution.finish();
    const { [index]: payload } = values;
    const mayBeTooLarge = payload !== undefined && payload !== null && !(payload instanceof Error);
    const { chunkCount } = sink;
    const append = root.fieldWriters[index] as Append;
    try {
      if (mayBeTooLarge && isFull) throw new ResultTooLarge();
      const written = await write(append, text, held, run);
      if (mayBeTooLarge) sink.assertRoom(written);
      text = written;
    } catch (failure) {
      if (!(failure instanceof ResultTooLarge)) throw failure;
      isFull = true;
      sink.truncate(chunkCount);
      run.depth = 0;
      values[index] = new PayloadTooLarge(name, sink.maxBytes);
      text = await write(append, text, held, run);
    }
  }
  return root.fields.length === 0 ? '{}' : `${text}}`;
}
