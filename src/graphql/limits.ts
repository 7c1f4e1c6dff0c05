import {
  getNamedType,
  GraphQLError,
  isCompositeType,
  isObjectType,
  Kind,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLNamedType,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
  type ValueNode,
} from 'graphql';

import { defaultPageSize, maxPageSize } from '../domain/page.ts';

export interface QueryLimits {
  /** Fields inside each other; `__schema` and `__type` are exempt. */
  readonly maxDepth: number;
  /** Objects that could come back; `first` and `last` multiply. */
  readonly maxCost: number;
  /** Aliases, after fragments. */
  readonly maxAliases: number;
}

interface Operation {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  readonly variables: Readonly<Record<string, unknown>>;
}

/**
 * Refuses an operation that could cost too much, before any of it is executed; the message names the setting that it exceeds.
 *
 * It walks what would be executed, with fragments, `@skip` and `@include` applied, and stops at the first limit: a document whose
 * fragments would grow without bounds costs no more than the limits allow. Objects count, what only wraps them (connections,
 * edges, page information) and scalars are free.
 */
export function assertWithinLimits(operation: Operation, limits: QueryLimits): void {
  const rootType = operation.schema.getRootType(operation.operation.operation);
  if (rootType) new Walk(operation, limits).selections(operation.operation.selectionSet, rootType, 1, 1);
}

class Walk {
  readonly #operation: Operation;
  readonly #limits: QueryLimits;
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  #cost = 0;
  #aliases = 0;
  /** Scalars cost nothing, but a fragment of thousands of them, spread thousands of times, is work all the same. */
  #steps = 0;

  constructor(operation: Operation, limits: QueryLimits) {
    this.#operation = operation;
    this.#limits = limits;
    this.#fragments = new Map(
      operation.document.definitions
        .filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION)
        .map((fragment) => [fragment.name.value, fragment]),
    );
  }

  selections({ selections }: SelectionSetNode, parent: GraphQLNamedType, depth: number, multiplier: number): void {
    for (const selection of selections) {
      this.#steps += 1;
      if (this.#steps > 20 * this.#limits.maxCost)
        throw this.#refusal('GRAPHQL_MAX_COST', this.#limits.maxCost, 'nodes');
      if (this.#isSkipped(selection)) continue;
      if (selection.kind === Kind.FIELD) {
        this.#field(selection, parent, depth, multiplier);
        continue;
      }
      const fragment = selection.kind === Kind.FRAGMENT_SPREAD ? this.#fragments.get(selection.name.value) : selection;
      if (fragment === undefined) continue;
      const condition = fragment.typeCondition?.name.value;
      const type = condition === undefined ? parent : this.#operation.schema.getType(condition);
      this.selections(fragment.selectionSet, type ?? parent, depth, multiplier);
    }
  }

  #field(field: FieldNode, parent: GraphQLNamedType, depth: number, multiplier: number): void {
    const name = field.name.value;
    if (field.alias !== undefined) {
      this.#aliases += 1;
      if (this.#aliases > this.#limits.maxAliases) {
        throw this.#refusal('GRAPHQL_MAX_ALIASES', this.#limits.maxAliases, 'aliases');
      }
    }
    if (name.startsWith('__')) return;
    if (depth > this.#limits.maxDepth) {
      throw this.#refusal('GRAPHQL_MAX_DEPTH', this.#limits.maxDepth, 'fields inside each other');
    }
    const type = isObjectType(parent) ? getNamedType(parent.getFields()[name]?.type) : undefined;
    if (type === undefined || !isCompositeType(type) || field.selectionSet === undefined) return;
    const within = isConnection(type) ? multiplier * this.#pageSize(field) : multiplier;
    if (!isWrapper(type)) {
      this.#cost += multiplier;
      if (this.#cost > this.#limits.maxCost) throw this.#refusal('GRAPHQL_MAX_COST', this.#limits.maxCost, 'nodes');
    }
    this.selections(field.selectionSet, type, depth + 1, within);
  }

  /** How many nodes the connection could answer. One that is refused for its size later on is counted as the largest page. */
  #pageSize(field: FieldNode): number {
    for (const { name, value } of field.arguments ?? []) {
      if (name.value !== 'first' && name.value !== 'last') continue;
      const size = value.kind === Kind.INT ? Number(value.value) : this.#variableIn(value);
      if (typeof size === 'number') return Math.min(Math.max(size, 0), maxPageSize);
    }
    return defaultPageSize;
  }

  #variableIn(value: ValueNode): unknown {
    return value.kind === Kind.VARIABLE ? this.#variable(value.name.value) : undefined;
  }

  #variable(name: string): unknown {
    const given = this.#operation.variables[name];
    if (given !== undefined) return given;
    const definitions = this.#operation.operation.variableDefinitions ?? [];
    const fallback = definitions.find(({ variable }) => variable.name.value === name)?.defaultValue;
    if (fallback?.kind === Kind.BOOLEAN) return fallback.value;
    return fallback?.kind === Kind.INT ? Number(fallback.value) : undefined;
  }

  #isSkipped({ directives = [] }: SelectionNode): boolean {
    return directives.some(({ name, arguments: [condition] = [] }) => {
      if (condition === undefined) return false;
      const { value } = condition;
      const isTrue = value.kind === Kind.BOOLEAN ? value.value : this.#variableIn(value);
      return (name.value === 'skip' && isTrue === true) || (name.value === 'include' && isTrue === false);
    });
  }

  #refusal(setting: string, limit: number, what: string): GraphQLError {
    return new GraphQLError(`The operation goes beyond ${setting}: at most ${limit} ${what} are allowed.`, {
      extensions: { code: 'GRAPHQL_VALIDATION_FAILED', http: { status: 400 } },
    });
  }
}

/** Recognised by their form, as the Relay specification describes it. */
function isConnection(type: GraphQLNamedType): boolean {
  return hasFields(type, 'edges', 'pageInfo');
}

/** What only holds the nodes together. */
function isWrapper(type: GraphQLNamedType): boolean {
  return isConnection(type) || hasFields(type, 'node', 'cursor') || hasFields(type, 'hasNextPage', 'endCursor');
}

function hasFields(type: GraphQLNamedType, ...names: string[]): boolean {
  return isObjectType(type) && names.every((name) => name in type.getFields());
}
