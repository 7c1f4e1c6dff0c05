import {
  getNamedType,
  isObjectType,
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

import { isToOne } from '../field-marks.ts';
import { collectFields, isIncluded, type Fragments } from './collect-fields.ts';
import type { ObjectWriter } from './completion.ts';
import { PreparedField, type FieldOfObject } from './field.ts';
import type { AtOnce } from './leaf.ts';
import { isPromise, type Path, type Run } from './run.ts';
import { joinAll, type Text } from './text.ts';

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

export interface SelectedField {
  /** Its prefix in the response: the separator and its key. */
  readonly prefix: string;
  readonly key: string;
  readonly name: string;
  readonly nodes: readonly FieldNode[];
  readonly field: PreparedField;
}

/** A field that can be written at once. */
interface FieldAtOnce {
  /** All constant text since the value before it. */
  readonly start: string;
  readonly name: string;
  readonly compute: PreparedField['compute'];
  readonly append: AtOnce['append'];
}

/**
 * The selection on an object type, prepared on first use: the specification's CollectFields and ExecuteSelectionSet.
 *
 * Throws the GraphQLError of a condition that is null.
 */
export class PreparedSelection implements ObjectWriter {
  readonly type: GraphQLObjectType;
  readonly #variant: Variant;
  readonly #sets: readonly SelectionSetNode[];
  #fields: readonly SelectedField[] | undefined;
  #prefixLength = 0;
  #atOnce: AtOnce | null | undefined;

  constructor(variant: Variant, type: GraphQLObjectType, sets: readonly SelectionSetNode[]) {
    this.#variant = variant;
    this.type = type;
    this.#sets = sets;
  }

  get fields(): readonly SelectedField[] {
    if (this.#fields === undefined) {
      this.#fields = prepareFields(this.#variant, this.type, this.#sets);
      this.#prefixLength = this.#fields.reduce((length, { prefix }) => length + prefix.length, 0);
    }
    return this.#fields;
  }

  /** The fields; none when a condition is null, which is an error of the object. */
  get validFields(): readonly SelectedField[] {
    try {
      return this.fields;
    } catch {
      return [];
    }
  }

  get atOnce(): AtOnce | undefined {
    if (this.#atOnce === undefined) this.#atOnce = prepareAtOnce(this.validFields) ?? null;
    return this.#atOnce ?? undefined;
  }

  write(source: unknown, path: Path | undefined, run: Run): Text {
    const { fields } = this;
    if (fields.length === 0) {
      run.write(2);
      return '{}';
    }
    run.write(this.#prefixLength + 1);
    let parts: Text[] | undefined;
    let text = '';
    let index = 0;
    try {
      for (; index < fields.length; index += 1) {
        const { field, prefix } = fields[index] as SelectedField;
        const part = field.write(source, path, run);
        text += prefix;
        if (typeof part === 'string') text += part;
        else {
          (parts ??= []).push(text, part);
          text = '';
        }
      }
    } catch (error) {
      const restLength = fields.slice(index).reduce((length, { prefix }) => length + prefix.length, 1);
      if (parts !== undefined) return joinAll({ run, path, parts: [...parts, text], restLength }, { error });
      run.discard(path, [text], restLength);
      throw error;
    }
    text += '}';
    if (parts === undefined) return run.pieces.kept(text);
    parts.push(text);
    return joinAll({ run, path, parts, restLength: 0 });
  }
}

/** Undefined when one of the fields can't be written at once. */
function prepareAtOnce(selected: readonly SelectedField[]): AtOnce | undefined {
  const fields: FieldAtOnce[] = [];
  let end = '';
  for (const { prefix, name, field } of selected) {
    if (field.atOnce === undefined) return undefined;
    const { quote, append } = field.atOnce;
    fields.push({ start: end + prefix + quote, name, compute: field.compute, append });
    end = quote;
  }
  end += '}';
  return fields.length === 0
    ? undefined
    : { quote: '', append: (text, source) => appendFields(text, source, fields, end) };
}

function appendFields(
  before: string,
  source: unknown,
  fields: readonly FieldAtOnce[],
  end: string,
): string | undefined {
  if (typeof source !== 'object' || source === null || source instanceof Error || isPromise(source)) return undefined;
  let text = before;
  try {
    for (const { start, name, compute, append } of fields) {
      const value = compute === undefined ? (source as Readonly<Record<string, unknown>>)[name] : compute(source);
      const appended = append(text + start, value);
      if (appended === undefined) return undefined;
      text = appended;
    }
  } catch {
    // What throws is read or computed again by `write`, which knows its path.
    return undefined;
  }
  return text + end;
}

function prepareFields(
  variant: Variant,
  type: GraphQLObjectType,
  sets: readonly SelectionSetNode[],
): readonly SelectedField[] {
  const collected = collectFields(variant, type, sets, (node) => isIncluded(node, variant.conditions));
  const fields: SelectedField[] = [];
  for (const [key, nodes] of collected) {
    const name = nodes[0].name.value;
    const definition = definitionOf(variant.schema, type, name);
    if (definition === undefined) continue;
    const prefix = `${fields.length === 0 ? '{' : ','}${JSON.stringify(key)}:`;
    const field = fieldOf(variant, { key, parentType: type, definition, nodes });
    fields.push({ prefix, key, name, nodes, field });
  }
  return fields;
}

/** Where a field is selected. */
type FieldPlace = Pick<FieldOfObject, 'key' | 'parentType' | 'definition' | 'nodes'>;

function fieldOf(variant: Variant, place: FieldPlace): PreparedField {
  const { parentType: type, nodes } = place;
  const [node] = nodes as [FieldNode];
  if (nodes.length > 1) return makeField(variant, place);
  const known = variant.prepared.get(node) ?? [];
  const same = known.find((each) => each.type === type);
  if (same !== undefined) return same.field;
  const field = makeField(variant, place);
  variant.prepared.set(node, [...known, { type, field }]);
  return field;
}

function makeField(variant: Variant, place: FieldPlace): PreparedField {
  const { definition, nodes } = place;
  const sets = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
  let selections: readonly PreparedSelection[] = [];
  const selectionFor = (type: GraphQLObjectType): PreparedSelection => {
    const known = selections.find((selection) => selection.type === type);
    if (known !== undefined) return known;
    const selection = new PreparedSelection(variant, type, sets);
    selections = [...selections, selection];
    return selection;
  };
  let relations: readonly string[] | undefined;
  let selected: readonly string[] | undefined;
  return new PreparedField({
    ...place,
    selectionFor,
    operationInfo: variant,
    relations: () => (relations ??= relationsBelow(definition, selectionFor)),
    selected: () => (selected ??= namesBelow(definition, selectionFor)),
  });
}

/**
 * The relations of the rows that a field returns. Levels in between, as in connections and payloads, are plain
 * properties.
 */
function relationsBelow(
  definition: GraphQLField<unknown, unknown>,
  selectionFor: (type: GraphQLObjectType) => PreparedSelection,
): readonly string[] {
  const type = getNamedType(definition.type);
  if (!isObjectType(type)) return [];
  const all = type.getFields();
  const { validFields: fields } = selectionFor(type);
  if (Object.values(all).some(isToOne)) {
    return unique(fields.map(({ name }) => name).filter((name) => all[name] !== undefined && isToOne(all[name])));
  }
  return unique(fields.filter(({ name }) => !all[name]?.resolve).flatMap(({ field }) => field.relations));
}

function namesBelow(
  definition: GraphQLField<unknown, unknown>,
  selectionFor: (type: GraphQLObjectType) => PreparedSelection,
): readonly string[] {
  const type = getNamedType(definition.type);
  return isObjectType(type) ? selectionFor(type).validFields.map(({ name }) => name) : [];
}

function unique(names: readonly string[]): readonly string[] {
  return [...new Set(names)].toSorted();
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
