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

import { isComputed } from '../computed.ts';
import { isToOne, type PreparedInfo } from '../relations.ts';
import { prepareArguments } from './arguments.ts';
import {
  handleFailure,
  prepareAtOnce,
  prepareCompletion,
  type Complete,
  type CompletedField,
  type ObjectWriter,
} from './completion.ts';
import type { WriteAtOnce } from './leaf.ts';
import { isPromise, type Path, type Run, type Text } from './run.ts';

/** Resolves a field of one object, and writes its value; throws only where null isn't allowed. */
type WriteField = (source: unknown, parent: Path | undefined, run: Run) => Text;

export interface PreparedField {
  readonly write: WriteField;
  /** Writes a value that the object has; undefined where the field always needs to be resolved. */
  readonly atOnce: () => WriteAtOnce | undefined;
  /** True when it and everything below it are properties, or computed from them. */
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
    atOnce: () => prepareFieldAtOnce(field),
    relations: field.relations,
    isPlain: () =>
      (!definition.resolve || isComputed(definition)) &&
      (isLeafType(namedType) || (isObjectType(namedType) && selectionFor(namedType).isPlain)),
  };
}

function prepareFieldAtOnce({ definition, selectionFor }: FieldOfObject): WriteAtOnce | undefined {
  if (!mayBeRead(definition)) return undefined;
  const write = prepareAtOnce(definition.type, selectionFor);
  if (write === undefined || !definition.resolve) return write;
  return (value) => (value === undefined ? undefined : write(value));
}

/** True for a property of the object, and for a relation that may be included. */
function mayBeRead(definition: FieldOfObject['definition']): boolean {
  return !definition.resolve || isToOne(definition);
}

function prepareWrite(field: FieldOfObject): WriteField {
  const { key, parentType, definition, nodes } = field;
  const { name } = definition;
  const typename = parentType.name;
  const finish = prepareFinish(field);
  const resolve = definition.resolve ?? callMethod;
  // A property of the object needn't be resolved.
  const isProperty = !definition.resolve;
  const isRead = mayBeRead(definition);
  const argumentsOf = prepareArguments(definition, nodes[0] as FieldNode);
  // Prepared with the first value, as the selections below are.
  let atOnce: { readonly write: WriteAtOnce | undefined } | undefined;

  return (source, parent, run) => {
    if (run.isTooLarge) return 'null';
    const path: Path = { prev: parent, key, typename };
    let value: unknown;
    try {
      value = isRead ? (source as Source)?.[name] : undefined;
      if (isProperty ? typeof value === 'function' : value === undefined) {
        value = resolve(source, argumentsOf(run.variables), run.context, infoOf(field, path, run));
      } else {
        atOnce ??= { write: prepareFieldAtOnce(field) };
        const written = atOnce.write?.(value);
        if (written !== undefined) {
          run.write(written.length);
          return written;
        }
      }
    } catch (failure) {
      return handleFailure(failure, !isNonNullType(definition.type), nodes, path, run);
    }
    return finish(value, path, run);
  };
}

/** Writes a resolved value, or the promise of one; throws only where null isn't allowed. */
function prepareFinish(field: FieldOfObject): Complete {
  const { parentType, definition, nodes, selectionFor } = field;
  const { name, type } = definition;
  const isNullable = !isNonNullType(type);
  const infoAt: CompletedField['infoAt'] = (path, run) => infoOf(field, path, run);
  const complete = prepareCompletion(type, { name: `${parentType.name}.${name}`, nodes, selectionFor, infoAt });
  const fail = (failure: unknown, path: Path, run: Run): string => handleFailure(failure, isNullable, nodes, path, run);
  const finish: Complete = (value, path, run) => {
    if (isPromise(value)) {
      return Promise.resolve(value).then(
        (resolved) => finish(resolved, path, run),
        (failure: unknown) => fail(failure, path, run),
      );
    }
    try {
      const text = complete(value, path, run);
      if (typeof text === 'string') return text;
      return text.then(undefined, (failure: unknown) => fail(failure, path, run));
    } catch (failure) {
      return fail(failure, path, run);
    }
  };
  return finish;
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
