import {
  isNonNullType,
  TypeNameMetaFieldDef,
  type FieldNode,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
} from 'graphql';

import { isComputed, isToOne, type PreparedInfo } from '../field-marks.ts';
import { prepareArguments, type ArgumentsOf } from './arguments.ts';
import { prepareAtOnce, prepareCompletion, type CompletedField, type ObjectWriter } from './completion.ts';
import { handleFailure, type Path, type Run } from './run.ts';
import { writeAtOnce, type AtOnce } from './leaf.ts';
import { completed, type Complete, type Text } from './text.ts';

/** A field of an object type, selected by one or more nodes of the document under one response key. */
export interface FieldOfObject {
  readonly key: string;
  readonly parentType: GraphQLObjectType;
  readonly definition: GraphQLField<unknown, unknown>;
  readonly nodes: readonly FieldNode[];
  readonly selectionFor: (type: GraphQLObjectType) => ObjectWriter;
  /** The part of `info` about the whole operation. */
  readonly operationInfo: Pick<GraphQLResolveInfo, 'schema' | 'fragments' | 'operation'>;
  readonly relations: PreparedInfo['relations'];
  readonly selected: PreparedInfo['selected'];
}

type ParentObject = Readonly<Record<string, unknown>> | null | undefined;

/** A field prepared for the specification's ExecuteField; what a value needs is prepared with the first one. */
export class PreparedField {
  readonly #field: FieldOfObject;
  readonly #isNullable: boolean;
  /** A property of the object, which needn't be resolved. */
  readonly #isProperty: boolean;
  /** True for a property, and for a relation, which may be included. */
  readonly #isRead: boolean;
  /** Computes the value from the object alone; undefined for a field that isn't computed. */
  readonly compute: ((source: unknown) => unknown) | undefined;
  #argumentsOf: ArgumentsOf | undefined;
  #complete: Complete | undefined;
  #atOnce: AtOnce | null | undefined;

  constructor(field: FieldOfObject) {
    const { definition } = field;
    this.#field = field;
    this.#isNullable = !isNonNullType(definition.type);
    this.#isProperty = !definition.resolve;
    this.#isRead = this.#isProperty || isToOne(definition);
    this.compute = isComputed(definition) ? (definition.resolve as PreparedField['compute']) : undefined;
  }

  get relations(): readonly string[] {
    return this.#field.relations();
  }

  /** Writes a value that the object has, or that is computed; undefined where the field always needs to be resolved. */
  get atOnce(): AtOnce | undefined {
    if (this.#atOnce === undefined) this.#atOnce = this.#prepareAtOnce() ?? null;
    return this.#atOnce ?? undefined;
  }

  /** Resolves the field of one object, and writes its value; throws only where null isn't allowed. */
  write(source: unknown, parent: Path | undefined, run: Run): Text {
    if (run.isTooLarge) return 'null';
    const { key, parentType, definition } = this.#field;
    const path: Path = { prev: parent, key, typename: parentType.name };
    let value: unknown;
    try {
      value = this.#isRead ? (source as ParentObject)?.[definition.name] : undefined;
      if (this.#isProperty ? typeof value === 'function' : value === undefined) {
        value = this.#resolve(source, path, run);
      } else {
        const { atOnce } = this;
        const written = atOnce && writeAtOnce(atOnce, value);
        if (written !== undefined) {
          run.write(written.length);
          return written;
        }
      }
    } catch (failure) {
      return this.#fail(failure, path, run);
    }
    return completed(
      value,
      (resolved) => (this.#complete ??= this.#prepareCompletion())(resolved, path, run),
      (failure) => this.#fail(failure, path, run),
    );
  }

  #resolve(source: unknown, path: Path, run: Run): unknown {
    const { definition, nodes } = this.#field;
    this.#argumentsOf ??= prepareArguments(definition, nodes[0] as FieldNode);
    const resolve = definition.resolve ?? callMethod;
    const args = run.argumentsOf(this.#argumentsOf);
    return resolve(source, args, run.context, infoOf(this.#field, path, run));
  }

  #fail(failure: unknown, path: Path, run: Run): string {
    return handleFailure(failure, this.#isNullable, this.#field.nodes, path, run);
  }

  #prepareCompletion(): Complete {
    const { parentType, definition, nodes, selectionFor } = this.#field;
    const name = `${parentType.name}.${definition.name}`;
    const infoAt: CompletedField['infoAt'] = (path, run) => infoOf(this.#field, path, run);
    return prepareCompletion(definition.type, { name, nodes, selectionFor, infoAt });
  }

  #prepareAtOnce(): AtOnce | undefined {
    const { definition, parentType, selectionFor } = this.#field;
    if (definition === TypeNameMetaFieldDef) return { quote: '"', append: (text) => text + parentType.name };
    const isKnown = this.#isRead || this.compute !== undefined;
    const atOnce = isKnown ? prepareAtOnce(definition.type, selectionFor) : undefined;
    if (atOnce === undefined || !isToOne(definition)) return atOnce;
    const { quote, append } = atOnce;
    // A relation that isn't included has to be resolved.
    return { quote, append: (text, value) => (value === undefined ? undefined : append(text, value)) };
  }
}

/** The method of an object that has one where others have a property. */
const callMethod: NonNullable<FieldOfObject['definition']['resolve']> = (source, args, context, info) =>
  (source as Record<string, (...given: readonly unknown[]) => unknown>)[info.fieldName]?.(args, context, info);

function infoOf(field: FieldOfObject, path: Path, run: Run): PreparedInfo {
  const { definition, nodes, parentType, operationInfo, relations, selected } = field;
  return {
    ...operationInfo,
    fieldName: definition.name,
    fieldNodes: nodes,
    returnType: definition.type,
    parentType,
    path,
    rootValue: undefined,
    variableValues: run.variables,
    relations,
    selected,
  };
}
