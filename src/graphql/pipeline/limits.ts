import {
  getNamedType,
  GraphQLError,
  isInterfaceType,
  isObjectType,
  Kind,
  type ArgumentNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type FragmentSpreadNode,
  type GraphQLNamedType,
  type GraphQLSchema,
  type InlineFragmentNode,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';

import { defaultPageSize, maxPageSize } from '../../domain/page.ts';

export interface QueryLimits {
  /** Fields inside each other; introspection is exempt. */
  readonly maxDepth: number;
  /** Nodes that could come back. */
  readonly maxCost: number;
  /** Aliases; those in a fragment count each time it is spread. */
  readonly maxAliases: number;
}

/** An operation that has passed validation, and its variables with their defaults. */
export interface ValidOperation {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  readonly variables: Readonly<Record<string, unknown>>;
}

interface Size {
  readonly depth: number;
  readonly cost: number;
  readonly aliases: number;
}

const empty: Size = { depth: 0, cost: 0, aliases: 0 };

/** Refuses an operation that could become too much, before any of it is executed; the message names the setting and both numbers. */
export function assertWithinLimits(operation: ValidOperation, limits: QueryLimits): void {
  const { depth, cost, aliases } = sizeOf(operation);
  if (depth > limits.maxDepth) throw refusal(`is ${depth} fields deep`, 'GRAPHQL_MAX_DEPTH', limits.maxDepth);
  if (aliases > limits.maxAliases) throw refusal(`has ${aliases} aliases`, 'GRAPHQL_MAX_ALIASES', limits.maxAliases);
  if (cost > limits.maxCost) throw refusal(`could return ${cost} nodes`, 'GRAPHQL_MAX_COST', limits.maxCost);
}

function refusal(what: string, setting: string, limit: number): GraphQLError {
  return new GraphQLError(`The operation ${what}, but ${setting} allows ${limit}.`, {
    extensions: { code: 'GRAPHQL_VALIDATION_FAILED', http: { status: 400 } },
  });
}

/**
 * Measures what would be executed, `@skip` and `@include` applied.
 *
 * Every field that answers an object costs 1, payloads included; connections, their `edges` and `pageInfo`, scalars and introspection
 * are free, and a connection multiplies what is inside it by its page size. Fields that are asked for twice count twice,
 * though graphql-js would merge them.
 */
function sizeOf(operation: ValidOperation): Size {
  const rootType = operation.schema.getRootType(operation.operation.operation) ?? undefined;
  return new Measure(operation).ofSelections(operation.operation.selectionSet, rootType);
}

/** Each fragment is measured once, so that the work grows with the document, never with what its fragments expand to. */
class Measure {
  readonly #operation: ValidOperation;
  readonly #fragments = new Map<string, FragmentDefinitionNode>();
  readonly #fragmentSizes = new Map<string, Size>();

  constructor(operation: ValidOperation) {
    this.#operation = operation;
    for (const definition of operation.document.definitions) {
      if (definition.kind === Kind.FRAGMENT_DEFINITION) this.#fragments.set(definition.name.value, definition);
    }
  }

  ofSelections({ selections }: SelectionSetNode, parent: GraphQLNamedType | undefined): Size {
    let { depth, cost, aliases } = empty;
    for (const selection of selections) {
      if (this.#isSkipped(selection)) continue;
      const size = this.#ofSelection(selection, parent);
      depth = Math.max(depth, size.depth);
      cost = countable(cost + size.cost);
      aliases = countable(aliases + size.aliases);
    }
    return { depth, cost, aliases };
  }

  #ofSelection(selection: SelectionNode, parent: GraphQLNamedType | undefined): Size {
    if (selection.kind === Kind.FIELD) return this.#ofField(selection, parent);
    if (selection.kind === Kind.INLINE_FRAGMENT) return this.#ofFragment(selection, parent);
    return this.#ofSpread(selection);
  }

  #ofSpread({ name }: FragmentSpreadNode): Size {
    const known = this.#fragmentSizes.get(name.value);
    if (known !== undefined) return known;
    const fragment = this.#fragments.get(name.value);
    const size = fragment === undefined ? empty : this.#ofFragment(fragment, undefined);
    this.#fragmentSizes.set(name.value, size);
    return size;
  }

  #ofFragment(
    { typeCondition, selectionSet }: FragmentDefinitionNode | InlineFragmentNode,
    parent: GraphQLNamedType | undefined,
  ): Size {
    const type = typeCondition && this.#operation.schema.getType(typeCondition.name.value);
    return this.ofSelections(selectionSet, type ?? parent);
  }

  #ofField(field: FieldNode, parent: GraphQLNamedType | undefined): Size {
    const type = typeOfField(parent, field.name.value);
    const within = field.selectionSet === undefined ? empty : this.ofSelections(field.selectionSet, type);
    const aliases = countable(within.aliases + (field.alias === undefined ? 0 : 1));
    if (field.name.value.startsWith('__')) return { depth: 0, cost: 0, aliases };
    return { depth: within.depth + 1, cost: this.#costOfField(field, parent, type, within.cost), aliases };
  }

  #costOfField(
    field: FieldNode,
    parent: GraphQLNamedType | undefined,
    type: GraphQLNamedType | undefined,
    costWithin: number,
  ): number {
    if (field.selectionSet === undefined) return 0;
    if (isConnection(type)) return countable(costWithin * this.#pageSize(field));
    if (parent === this.#operation.schema.getQueryType() && field.name.value === 'nodes') {
      return countable((costWithin + 1) * this.#itemCount(field.arguments, 'nodeIds'));
    }
    const isFree = isConnection(parent) && ['edges', 'pageInfo'].includes(field.name.value);
    return countable(costWithin + (isFree ? 0 : 1));
  }

  /** A size that the service will refuse counts as the nearest one that it wouldn't: its own message is the clearer one. */
  #pageSize(field: FieldNode): number {
    const sizes = [this.#argument(field.arguments, 'first'), this.#argument(field.arguments, 'last')];
    const size = sizes.find((given) => typeof given === 'number') ?? defaultPageSize;
    return Math.min(Math.max(size, 0), maxPageSize);
  }

  /** The number of items of a list argument; one that is no list counts as a list of itself, as GraphQL coerces it. */
  #itemCount(args: readonly ArgumentNode[] | undefined, name: string): number {
    const value = args?.find((argument) => argument.name.value === name)?.value;
    if (value?.kind === Kind.LIST) return value.values.length;
    const list = value?.kind === Kind.VARIABLE ? this.#operation.variables[value.name.value] : undefined;
    return Array.isArray(list) ? list.length : 1;
  }

  #isSkipped({ directives = [] }: SelectionNode): boolean {
    return directives.some(
      ({ name, arguments: args }) =>
        (name.value === 'skip' && this.#argument(args, 'if') === true) ||
        (name.value === 'include' && this.#argument(args, 'if') === false),
    );
  }

  /** The value of an argument that is a whole number or a truth value; anything else doesn't matter here. */
  #argument(args: readonly ArgumentNode[] | undefined, name: string): unknown {
    const value = args?.find((argument) => argument.name.value === name)?.value;
    if (value?.kind === Kind.VARIABLE) return this.#operation.variables[value.name.value];
    if (value?.kind === Kind.INT) return Number(value.value);
    return value?.kind === Kind.BOOLEAN ? value.value : undefined;
  }
}

/** Keeps the product of nested bombs a number: infinity times an empty page would be none. */
function countable(size: number): number {
  return Math.min(size, Number.MAX_SAFE_INTEGER);
}

function typeOfField(parent: GraphQLNamedType | undefined, name: string): GraphQLNamedType | undefined {
  if (!isObjectType(parent) && !isInterfaceType(parent)) return undefined;
  return getNamedType(parent.getFields()[name]?.type);
}

/** Recognised by its form, as the Relay specification describes it. */
function isConnection(type: GraphQLNamedType | undefined): boolean {
  if (!isObjectType(type)) return false;
  const fields = type.getFields();
  return fields['edges'] !== undefined && fields['pageInfo'] !== undefined;
}
