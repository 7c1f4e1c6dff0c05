import {
  defaultFieldResolver,
  defaultTypeResolver,
  type FieldNode,
  getArgumentValues,
  getNamedType,
  type GraphQLAbstractType,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  isAbstractType,
  isIntrospectionType,
  isLeafType,
  isObjectType,
  Kind,
  type ResponsePath,
  type SelectionSetNode,
  valueFromAST,
} from 'graphql';

import { isRow, sortedOnce } from './rows.ts';
import type { Variant } from './operation.ts';
import { type Descend, Held, prepareDescent, type Resolution } from './resolve.ts';
import { errorOf, type Run, type Variables } from './run.ts';
import { type Append, prepareFields, prepareWriter, type ValueWriter } from './write.ts';
import { extensionsOf, type PreparedInfo } from './extensions.ts';

/**
 * The selection on an object type, prepared on first use: the specification's CollectFields and ExecuteSelectionSet.
 *
 * A condition that is null fails when an object is written: until then the selection has no fields, so that a resolver
 * may fail first.
 */
export class PreparedSelection {
  readonly type: GraphQLObjectType;
  /** None when a condition is null. */
  readonly validFields: readonly PreparedField[] = [];
  readonly #failure: Error | undefined;
  /** The first values of a held object: undefined for each field, which is then read while the object is written. */
  readonly #unread: readonly undefined[];
  /** Of the fields that need resolving. */
  #indexes: readonly number[] | undefined;
  #needsOthers: boolean | undefined;
  #append: Append | undefined;
  #fieldWriters: readonly Append[] | undefined;

  constructor(variant: Variant, type: GraphQLObjectType, sets: readonly SelectionSetNode[]) {
    this.type = type;
    try {
      this.validFields = variant.fieldsOf(type, sets);
    } catch (failure) {
      this.#failure = errorOf(failure);
    }
    this.#unread = this.validFields.map(() => undefined);
  }

  /** Throws the GraphQLError of a condition that is null: found once, however many objects there are. */
  get fields(): readonly PreparedField[] {
    if (this.#failure !== undefined) throw this.#failure;
    return this.validFields;
  }

  /** Whether something has to be resolved before an object is written; see `PreparedField`. */
  needsResolving(areIncluded: boolean): boolean {
    if (!areIncluded) return this.#indexesToResolve.length > 0;
    return (this.#needsOthers ??= this.validFields.some((field) => field.needsResolving(true)));
  }

  /** Begins to resolve the fields of an object. */
  resolve(source: unknown, path: ResponsePath | undefined, resolution: Resolution): Held {
    const held = new Held(this, source, this.#unread.slice());
    for (const index of this.#indexesToResolve)
      (this.validFields[index] as PreparedField).resolve(held, index, path, resolution);
    return held;
  }

  /** Writes an object, held or not. */
  get append(): Append {
    return (this.#append ??= prepareFields(this.type, this.fields, [...this.fields.keys()], '}'));
  }

  /** A writer for each field, without the bracket after the last one. */
  get fieldWriters(): readonly Append[] {
    return (this.#fieldWriters ??= this.fields.map((_field, index, all) => prepareFields(this.type, all, [index], '')));
  }

  get #indexesToResolve(): readonly number[] {
    return (this.#indexes ??= this.validFields.flatMap((field, index) => (field.needsResolving(false) ? index : [])));
  }
}

/**
 * A field prepared for both phases. Its value is a property of the object, computed from the object, a relation that
 * may be included in it, or what a resolver returns in the first phase.
 */
export class PreparedField {
  readonly key: string;
  readonly name: string;
  readonly parentType: GraphQLObjectType;
  readonly definition: GraphQLField<unknown, unknown>;
  /** Of the document: one or more under its response key. */
  readonly nodes: readonly FieldNode[];
  readonly variant: Variant;
  readonly #isComputed: boolean;
  /** By which what is computed is kept for each object: the same for all aliases. */
  readonly #onceKey: object | undefined;
  /** The name of the relation that it is. */
  readonly #relation: string | undefined;
  readonly #hasResolver: boolean;
  /** Its parent is a row: a type that has relations. */
  readonly #isOfRow: boolean;
  readonly #arguments: readonly PreparedArgument[];
  #selections: readonly PreparedSelection[] = [];
  #relations: readonly string[] | undefined;
  #selected: readonly string[] | undefined;
  #descend: Descend | undefined;
  #writer: ValueWriter | undefined;

  constructor(
    variant: Variant,
    key: string,
    parentType: GraphQLObjectType,
    definition: GraphQLField<unknown, unknown>,
    nodes: readonly FieldNode[],
  ) {
    const { toOne, computed } = extensionsOf(definition);
    this.variant = variant;
    this.key = key;
    this.name = definition.name;
    this.parentType = parentType;
    this.definition = definition;
    this.nodes = nodes;
    // Introspection is read from the schema.
    this.#isComputed = computed ?? (isIntrospectionType(parentType) || definition.name.startsWith('__'));
    this.#onceKey = computed === true ? (definition.args.length === 0 ? definition : this) : undefined;
    this.#relation = toOne;
    this.#hasResolver = definition.resolve !== undefined && !this.#isComputed && toOne === undefined;
    this.#isOfRow = isRow(parentType);
    this.#arguments = prepareArguments(definition, nodes[0] as FieldNode);
  }

  /** `Pet.name`, for messages. */
  get label(): string {
    return `${this.parentType.name}.${this.name}`;
  }

  /** Made with the first value. */
  get writer(): ValueWriter {
    return (this.#writer ??= prepareWriter(this.definition.type, this));
  }

  /**
   * The relations that are selected on the rows in its value. Levels in between, as in connections and payloads, are
   * plain properties.
   */
  get relations(): readonly string[] {
    return (this.#relations ??= sortedOnce(this.#relationsBelow()));
  }

  /** The selection on an object in its value, of this type. */
  selectionOf(value: unknown, type: GraphQLCompositeType, run: Run): PreparedSelection {
    return this.#selectionOn(isObjectType(type) ? type : this.#typeOf(value, type, run));
  }

  /**
   * Whether something has to be resolved before it is written, here or below. With `areIncluded` the first rows on the
   * way down, its own object or those in its value, include all `relations`; rows that are related to them include none.
   */
  needsResolving(areIncluded: boolean): boolean {
    if (this.#hasResolver || (this.#relation !== undefined && !areIncluded)) return true;
    const areIncludedBelow = areIncluded && !this.#isOfRow && !this.#isComputed;
    return this.#selectionsBelow().some((selection) => selection.needsResolving(areIncludedBelow));
  }

  /** Puts its value into the place in a held object, or has its resolver called. */
  resolve({ source, values }: Held, index: number, prev: ResponsePath | undefined, resolution: Resolution): void {
    const { run } = resolution;
    const path: ResponsePath = { prev, key: this.key, typename: this.parentType.name };
    const place = { values, index, path, descend: (this.#descend ??= prepareDescent(this.definition.type, this)) };
    const call = (): unknown => this.#call(source, run, this.#infoAt(path, run));
    if (this.#hasResolver) resolution.call(call, place);
    else resolution.put(place, () => this.read(source, run), this.#relation === undefined ? undefined : call);
  }

  /** The value of its resolver where it is a root field, for another context than that of the run. */
  callAtRoot(source: object, run: Run, context: unknown): unknown {
    const path: ResponsePath = { prev: undefined, key: this.key, typename: this.parentType.name };
    return this.#call(source, run, this.#infoAt(path, run), context);
  }

  /** Its value where it has no resolver. What a resolver computes, it computes once for an object. */
  read(source: unknown, run: Run): unknown {
    if (!this.#isComputed) return (source as Readonly<Record<string, unknown>>)[this.#relation ?? this.name];
    const compute = (): unknown => this.#call(source, run, this.variant);
    return this.#onceKey === undefined ? compute() : run.once(this.#onceKey, source, compute);
  }

  /** Its arguments with coerced variables. Throws a GraphQLError for a null that isn't allowed. */
  argumentsFor(variables: Variables): Record<string, unknown> {
    const args: Record<string, unknown> = {};
    for (const { name, variable, constant } of this.#arguments) {
      const value = variable === undefined ? constant : variables[variable];
      if (value === undefined || value === null)
        return getArgumentValues(this.definition, this.nodes[0] as FieldNode, variables);
      args[name] = value;
    }
    return args;
  }

  #infoAt(path: ResponsePath, run: Run): PreparedInfo {
    const { name: fieldName, nodes: fieldNodes, parentType, definition, variant } = this;
    const { schema, fragments, operation } = variant;
    return {
      fieldName,
      fieldNodes,
      returnType: definition.type,
      parentType,
      path,
      schema,
      fragments,
      rootValue: undefined,
      operation,
      variableValues: run.variables,
      relations: () => this.relations,
      selected: () => (this.#selected ??= this.#fieldsBelow().map(({ name }) => name)),
    };
  }

  #call(source: unknown, run: Run, info: Partial<GraphQLResolveInfo>, context = run.context): unknown {
    const { resolve = defaultFieldResolver } = this.definition;
    return resolve(source, run.argumentsOf(this), context, info as GraphQLResolveInfo);
  }

  #relationsBelow(): readonly string[] {
    const fields = this.#fieldsBelow();
    if (fields.some((field) => field.#isOfRow)) return fields.flatMap((field) => field.#relation ?? []);
    return fields.filter((field) => !field.#hasResolver && !field.#isComputed).flatMap((field) => field.relations);
  }

  #fieldsBelow(): readonly PreparedField[] {
    return this.#selectionsBelow().flatMap(({ validFields }) => validFields);
  }

  #selectionsBelow(): readonly PreparedSelection[] {
    const type = getNamedType(this.definition.type);
    if (isLeafType(type)) return [];
    const types = isAbstractType(type) ? this.variant.schema.getPossibleTypes(type) : [type as GraphQLObjectType];
    return types.map((each) => this.#selectionOn(each));
  }

  #selectionOn(type: GraphQLObjectType): PreparedSelection {
    for (const selection of this.#selections) if (selection.type === type) return selection;
    const sets = this.nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
    const selection = new PreparedSelection(this.variant, type, sets);
    this.#selections = [...this.#selections, selection];
    return selection;
  }

  #typeOf(value: unknown, type: GraphQLAbstractType, run: Run): GraphQLObjectType {
    const { schema } = this.variant;
    const info = this.variant as Partial<GraphQLResolveInfo> as GraphQLResolveInfo;
    const name: unknown = (type.resolveType ?? defaultTypeResolver)(value, run.context, info, type);
    const objectType = typeof name === 'string' ? schema.getType(name) : undefined;
    if (isObjectType(objectType) && schema.isSubType(type, objectType)) return objectType;
    throw new TypeError(`"${type.name}" of ${this.label} is resolved to ${String(name)}, which is no type of it.`);
  }
}

/**
 * What gives an argument its value. Without either, graphql-js coerces all of the field's arguments, as it does where a
 * variable is null or unset.
 */
interface PreparedArgument {
  readonly name: string;
  readonly variable?: string;
  readonly constant?: unknown;
}

function prepareArguments(
  { args }: GraphQLField<unknown, unknown>,
  { arguments: nodes = [] }: FieldNode,
): readonly PreparedArgument[] {
  return args.flatMap(({ name, type, defaultValue: constant }) => {
    const value = nodes.find((node) => node.name.value === name)?.value;
    if (value === undefined) return constant === undefined ? [] : { name, constant };
    if (value.kind === Kind.VARIABLE) return { name, variable: value.name.value };
    // In a list or an input object there may be variables.
    const isLeaf = value.kind !== Kind.LIST && value.kind !== Kind.OBJECT;
    return isLeaf ? { name, constant: valueFromAST(value, type) } : { name };
  });
}
