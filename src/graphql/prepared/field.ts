import {
  getNamedType,
  isLeafType,
  isNonNullType,
  isObjectType,
  type FieldNode,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
} from 'graphql';

import { isToOne, type PreparedInfo } from '../relations.ts';
import { prepareArguments } from './arguments.ts';
import { handleFailure, prepareCompletion, type CompletedField, type ObjectWriter } from './completion.ts';
import { prepareLeaf } from './leaf.ts';
import { isPromise, type Path, type Run, type Text } from './run.ts';

/** Resolves a field of one object, and writes its value; throws only where null isn't allowed. */
type WriteField = (source: unknown, parent: Path | undefined, run: Run) => Text;

export interface PreparedField {
  readonly write: WriteField;
  /** True when it and everything below it are properties that need no resolver. */
  readonly isPlain: () => boolean;
  readonly relations: PreparedInfo['relations'];
}

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
}

type Source = Readonly<Record<string, unknown>> | null | undefined;

/** Prepares the specification's ExecuteField. */
export function prepareField(field: FieldOfObject): PreparedField {
  const { definition, selectionFor } = field;
  const namedType = getNamedType(definition.type);
  return {
    write: prepareWrite(field),
    relations: field.relations,
    isPlain: () =>
      !definition.resolve && (isLeafType(namedType) || (isObjectType(namedType) && selectionFor(namedType).isPlain)),
  };
}

function prepareWrite(field: FieldOfObject): WriteField {
  const { key, parentType, definition, nodes, selectionFor } = field;
  const { name, type } = definition;
  const typename = parentType.name;
  const isNullable = !isNonNullType(type);
  const nullableType = isNonNullType(type) ? type.ofType : type;
  const writeLeaf = isLeafType(nullableType) ? prepareLeaf(nullableType) : undefined;
  const infoAt: CompletedField['infoAt'] = (path, run) => infoOf(field, path, run);
  const complete = prepareCompletion(type, { name: `${typename}.${name}`, nodes, selectionFor, infoAt });
  const resolve = definition.resolve ?? callMethod;
  // A property of the object needn't be resolved.
  const isProperty = !definition.resolve;
  const mayBeRead = isProperty || isToOne(definition);
  const argumentsOf = prepareArguments(definition, nodes[0] as FieldNode);

  return (source, parent, run) => {
    if (run.isTooLarge) return 'null';
    let path: Path | undefined;
    try {
      let value: unknown = mayBeRead ? (source as Source)?.[name] : undefined;
      if (isProperty ? typeof value === 'function' : value === undefined) {
        path = { prev: parent, key, typename };
        value = resolve(source, argumentsOf(run.variables), run.context, infoOf(field, path, run));
      }
      if (writeLeaf !== undefined && isPlainValue(value)) {
        const text = writeLeaf(value);
        run.write(text.length);
        return text;
      }
      const place = (path ??= { prev: parent, key, typename });
      const text = isPromise(value)
        ? Promise.resolve(value).then((resolved) => complete(resolved, place, run))
        : complete(value, place, run);
      if (typeof text === 'string') return text;
      return text.then(undefined, (failure: unknown) => handleFailure(failure, isNullable, nodes, place, run));
    } catch (failure) {
      return handleFailure(failure, isNullable, nodes, path ?? { prev: parent, key, typename }, run);
    }
  };
}

/** True for the usual values of leaves, which are no null, error or promise. */
function isPlainValue(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

/** The method of an object that has one where others have a property. */
const callMethod: NonNullable<FieldOfObject['definition']['resolve']> = (source, args, context, info) =>
  (source as Record<string, (...given: readonly unknown[]) => unknown>)[info.fieldName]?.(args, context, info);

function infoOf(field: FieldOfObject, path: Path, run: Run): PreparedInfo {
  const { definition, nodes, parentType, operationInfo, relations } = field;
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
  };
}
