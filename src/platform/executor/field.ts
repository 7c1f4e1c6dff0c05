import {
  defaultFieldResolver,
  getNamedType,
  isAbstractType,
  isIntrospectionType,
  isObjectType,
  type FieldNode,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
} from 'graphql';

import { prepareHold } from './held.ts';
import { hasRelations, isRelation, marksOf, type PreparedInfo } from './marks.ts';
import type { Hold, Resolution } from './resolve.ts';
import type { FieldCall, Path, Run } from './run.ts';
import type { PreparedSelection } from './selection.ts';
import { prepareWriter, type FieldWriter, type ValueWriter } from './write.ts';

/** Where a field is selected: by one or more nodes of the document under one response key. */
export interface SelectedField extends FieldCall {
  readonly key: string;
  readonly parentType: GraphQLObjectType;
  /** The part of `info` about the whole operation. */
  readonly operationInfo: Pick<GraphQLResolveInfo, 'schema' | 'fragments' | 'operation'>;
}

/** An object while its fields are resolved. */
interface Parent {
  readonly source: unknown;
  readonly values: unknown[];
  readonly path: Path | undefined;
  readonly isComplete: boolean;
}

/**
 * A field prepared for both phases. Its value is a property of the object, computed from the object, a relation that
 * may be included in it, or what a resolver returns in the first phase.
 */
export class PreparedField {
  readonly key: string;
  readonly name: string;
  readonly nodes: readonly FieldNode[];
  /** `Pet.name`, for messages. */
  readonly label: string;
  /** Undefined unless it is computed. */
  readonly compute: FieldWriter['compute'];
  readonly #field: SelectedField;
  readonly #makeSelection: (type: GraphQLObjectType) => PreparedSelection;
  readonly #isRelation: boolean;
  readonly #isResolved: boolean;
  readonly #isOfRow: boolean;
  #selections: readonly PreparedSelection[] = [];
  #relations: readonly string[] | undefined;
  #selected: readonly string[] | undefined;
  #hold: Hold | undefined;
  #writer: ValueWriter | undefined;

  constructor(field: SelectedField, makeSelection: (type: GraphQLObjectType) => PreparedSelection) {
    const { key, parentType, definition, nodes, operationInfo } = field;
    const { computed, promised } = marksOf(definition);
    // Introspection is computed from the schema.
    const isComputed = computed ?? (isIntrospectionType(parentType) || definition.name.startsWith('__'));
    this.key = key;
    this.name = definition.name;
    this.nodes = nodes;
    this.label = `${parentType.name}.${definition.name}`;
    this.compute = isComputed ? (source, run) => this.#resolve(source, run, operationInfo) : undefined;
    this.#field = field;
    this.#makeSelection = makeSelection;
    this.#isRelation = isRelation(definition);
    this.#isResolved = promised ?? (definition.resolve !== undefined && !isComputed && !this.#isRelation);
    this.#isOfRow = hasRelations(parentType);
  }

  /** Made with the first value. */
  get writer(): ValueWriter {
    return (this.#writer ??= prepareWriter(this.#field.definition.type, this));
  }

  /**
   * The relations that are selected on the rows in its value. Levels in between, as in connections and payloads, are
   * plain properties.
   */
  get relations(): readonly string[] {
    return (this.#relations ??= [...new Set(this.#relationsBelow())].toSorted());
  }

  selectionFor(type: GraphQLObjectType): PreparedSelection {
    const known = this.#selections.find((selection) => selection.type === type);
    if (known !== undefined) return known;
    const selection = this.#makeSelection(type);
    this.#selections = [...this.#selections, selection];
    return selection;
  }

  /** Whether something has to be resolved first, here or below. */
  needs(isComplete: boolean): boolean {
    if (this.#isResolved || (this.#isRelation && !isComplete)) return true;
    const type = getNamedType(this.#field.definition.type);
    if (!isObjectType(type)) return isAbstractType(type);
    return this.selectionFor(type).needs(this.#isCompleteBelow(isComplete));
  }

  /** Puts the value of an object's field into its place, or has it resolved. */
  hold({ source, values, path: prev, isComplete }: Parent, index: number, resolution: Resolution): void {
    const { key, parentType, definition } = this.#field;
    const path: Path = { prev, key, typename: parentType.name };
    const hold = (this.#hold ??= prepareHold(definition.type, this));
    const place = { values, index, path, isComplete: this.#isCompleteBelow(isComplete), hold };
    const { run } = resolution;
    const read = (): unknown =>
      this.compute === undefined ? (source as Record<string, unknown>)[this.name] : this.compute(source, run);
    const resolve = (): unknown => this.#resolve(source, run, this.infoAt(path, run));
    if (this.#isResolved) resolution.call(resolve, place);
    else resolution.put(place, read, this.#isRelation && !isComplete ? resolve : undefined);
  }

  infoAt(path: Path, run: Run): PreparedInfo {
    const { definition, nodes, parentType, operationInfo } = this.#field;
    const { schema, fragments, operation } = operationInfo;
    return {
      fieldName: this.name,
      fieldNodes: nodes,
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

  /** What is between a page and its rows has no relations of its own; what is related to these includes none. */
  #isCompleteBelow(isComplete: boolean): boolean {
    return isComplete && !this.#isOfRow;
  }

  #resolve(source: unknown, run: Run, info: Partial<GraphQLResolveInfo>): unknown {
    const { resolve = defaultFieldResolver } = this.#field.definition;
    return resolve(source, run.argumentsOf(this.#field), run.context, info as GraphQLResolveInfo);
  }

  #relationsBelow(): readonly string[] {
    const fields = this.#fieldsBelow();
    const relations = fields.filter((field) => field.#isRelation);
    if (fields.some((field) => field.#isOfRow)) return relations.map(({ name }) => name);
    return fields
      .filter((field) => !field.#isResolved && field.compute === undefined)
      .flatMap((field) => field.relations);
  }

  #fieldsBelow(): readonly PreparedField[] {
    const type = getNamedType(this.#field.definition.type);
    return isObjectType(type) ? this.selectionFor(type).validFields : [];
  }
}
