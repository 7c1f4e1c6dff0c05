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

import { collectFields, isIncluded, type Fragments } from './collect-fields.ts';
import { PreparedField, type SelectedField } from './field.ts';
import { Held } from './held.ts';
import type { Resolution } from './resolve.ts';
import { errorOf, type Path } from './run.ts';
import { fieldsWriter, type Append, type FieldWriter } from './write.ts';

/** An operation with fixed values for its `@skip` and `@include` conditions. */
export interface Variant {
  readonly schema: GraphQLSchema;
  readonly operation: OperationDefinitionNode;
  readonly fragments: Fragments;
  /** The variables that its conditions name. */
  readonly conditions: Readonly<Record<string, unknown>>;
  /** Each node is prepared once for each type, however many fragments lead to it. */
  readonly prepared: Map<FieldNode, { readonly type: GraphQLObjectType; readonly field: PreparedField }[]>;
}

/**
 * The selection on an object type, prepared on first use: the specification's CollectFields and ExecuteSelectionSet.
 *
 * A condition that is null fails when an object is written: until then the selection has no fields, so that a resolver
 * may fail first.
 */
export class PreparedSelection {
  readonly type: GraphQLObjectType;
  readonly #variant: Variant;
  readonly #sets: readonly SelectionSetNode[];
  #fields: readonly PreparedField[] | undefined;
  #failure: Error | undefined;
  /** The first values of a held object: undefined for each field, which is then read while the object is written. */
  #unread: readonly undefined[] = [];
  /** What an object takes at least, in characters. */
  #length = 0;
  /** The indexes of the fields that are held, of complete objects and of others. */
  #complete: readonly number[] | undefined;
  #others: readonly number[] | undefined;
  #append: Append | undefined;
  #fieldWriters: readonly Append[] | undefined;

  constructor(variant: Variant, type: GraphQLObjectType, sets: readonly SelectionSetNode[]) {
    this.#variant = variant;
    this.type = type;
    this.#sets = sets;
  }

  /** Throws the GraphQLError of a condition that is null. */
  get fields(): readonly PreparedField[] {
    const fields = this.validFields;
    if (this.#failure !== undefined) throw this.#failure;
    return fields;
  }

  /** The fields; none when a condition is null. */
  get validFields(): readonly PreparedField[] {
    if (this.#fields === undefined) {
      try {
        this.#fields = prepareFields(this.#variant, this.type, this.#sets);
      } catch (failure) {
        // Found once, however many objects there are.
        this.#failure = errorOf(failure);
        this.#fields = [];
      }
      this.#unread = this.#fields.map(() => undefined);
      this.#length = this.#fields.reduce((length, { key }) => length + key.length + '{"":'.length, 1);
    }
    return this.#fields;
  }

  /** Whether something has to be resolved before an object is written. */
  needs(isComplete: boolean): boolean {
    return this.#heldFields(isComplete).length > 0;
  }

  hold(source: unknown, path: Path | undefined, isComplete: boolean, resolution: Resolution): Held {
    const fields = this.#heldFields(isComplete);
    const values: unknown[] = this.#unread.slice();
    if (resolution.grow(this.#length)) {
      const parent = { source, values, path, isComplete };
      for (const index of fields) (this.fields[index] as PreparedField).hold(parent, index, resolution);
    }
    return new Held(this, source, values);
  }

  /** Writes an object, held or not. */
  get append(): Append {
    return (this.#append ??= writerOf(this, [...this.fields.keys()], '}'));
  }

  /** They write one field each, without the bracket after the last one. */
  get fieldWriters(): readonly Append[] {
    return (this.#fieldWriters ??= this.fields.map((_field, index) => writerOf(this, [index], '')));
  }

  #heldFields(isComplete: boolean): readonly number[] {
    const fields = (): number[] => this.validFields.flatMap((field, index) => (field.needs(isComplete) ? [index] : []));
    return isComplete ? (this.#complete ??= fields()) : (this.#others ??= fields());
  }
}

function writerOf({ type, fields }: PreparedSelection, indexes: readonly number[], end: string): Append {
  const writers: FieldWriter[] = [];
  let constant = '';
  for (const index of indexes) {
    const { key, name, writer, compute } = fields[index] as PreparedField;
    constant += prefixOf(key, index);
    if (name === TypeNameMetaFieldDef.name) constant += `"${type.name}"`;
    else {
      writers.push({ ...writer, key, property: name, start: constant + writer.quote, at: index, compute });
      constant = writer.quote;
    }
  }
  return fieldsWriter(writers, (fields.length === 0 ? '{' : constant) + end);
}

/** What is before the value of a field. */
function prefixOf(key: string, index: number): string {
  return `${index === 0 ? '{' : ','}${JSON.stringify(key)}:`;
}

function prepareFields(
  variant: Variant,
  type: GraphQLObjectType,
  sets: readonly SelectionSetNode[],
): readonly PreparedField[] {
  const collected = collectFields(variant, type, sets, (node) => isIncluded(node, variant.conditions));
  return [...collected].flatMap(([key, nodes]) => {
    const definition = definitionOf(variant.schema, type, nodes[0].name.value);
    return definition === undefined
      ? []
      : fieldAt(variant, { key, parentType: type, definition, nodes, operationInfo: variant });
  });
}

function fieldAt(variant: Variant, selected: SelectedField): PreparedField {
  const { parentType: type, nodes } = selected;
  const [node] = nodes as [FieldNode];
  const known = variant.prepared.get(node) ?? [];
  const same = nodes.length > 1 ? undefined : known.find((each) => each.type === type);
  if (same !== undefined) return same.field;
  const sets = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
  const field = new PreparedField(selected, (below) => new PreparedSelection(variant, below, sets));
  if (nodes.length === 1) variant.prepared.set(node, [...known, { type, field }]);
  return field;
}

function definitionOf(
  schema: GraphQLSchema,
  type: GraphQLObjectType,
  name: string,
): GraphQLField<unknown, unknown> | undefined {
  if (name === TypeNameMetaFieldDef.name) return TypeNameMetaFieldDef;
  if (type === schema.getQueryType()) {
    if (name === SchemaMetaFieldDef.name) return SchemaMetaFieldDef;
    if (name === TypeMetaFieldDef.name) return TypeMetaFieldDef;
  }
  return type.getFields()[name];
}
