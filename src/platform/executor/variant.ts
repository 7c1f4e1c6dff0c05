import {
  SchemaMetaFieldDef,
  TypeMetaFieldDef,
  TypeNameMetaFieldDef,
  type FieldNode,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';

import { collectFields, fragmentsIn, isIncluded, type Fragments } from './collect-fields.ts';
import { PreparedField } from './field.ts';
import type { OperationSource } from './operation.ts';

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
