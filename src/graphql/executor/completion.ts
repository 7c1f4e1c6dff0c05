import { inspect } from 'node:util';

import {
  defaultTypeResolver,
  isAbstractType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  type FieldNode,
  type GraphQLAbstractType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
} from 'graphql';

import { isPromise, type Path, type Run, writeNull } from './run.ts';
import { prepareLeaf, type AtOnce } from './leaf.ts';
import { ListWriter, type PreparedList } from './list.ts';
import { textOf, type Complete, type Text } from './text.ts';

/** Writes the fields of a selection for one object. */
export interface ObjectWriter {
  write(source: unknown, path: Path | undefined, run: Run): Text;
  /**
   * Writes an object whose fields can all be written at once, and doesn't count the length; undefined when there is no
   * such object.
   */
  readonly atOnce: AtOnce | undefined;
}

/** The field whose value is completed. */
export interface CompletedField {
  /** `Pet.name`, for messages. */
  readonly name: string;
  readonly nodes: readonly FieldNode[];
  /** The selection below it, for objects of the type. */
  readonly selectionFor: (type: GraphQLObjectType) => ObjectWriter;
  /** The `info` argument of resolvers at this path. */
  readonly infoAt: (path: Path, run: Run) => GraphQLResolveInfo;
}

/**
 * Prepares the usual case of CompleteValue: leaves, and objects of leaves and included relations, need no path, `info`
 * or promise. Undefined for a type that always needs them. Where it writes nothing, properties are read, and fields
 * computed, a second time.
 */
export function prepareAtOnce(
  type: GraphQLOutputType,
  selectionFor: CompletedField['selectionFor'],
): AtOnce | undefined {
  if (isNonNullType(type)) return notNullAtOnce(type.ofType as GraphQLOutputType, selectionFor);
  const atOnce = notNullAtOnce(type, selectionFor);
  if (atOnce === undefined) return undefined;
  const { quote, append } = atOnce;
  return {
    quote: '',
    append: (text, value) => {
      if (value === null || value === undefined) return `${text}null`;
      const appended = append(text + quote, value);
      return appended === undefined ? undefined : appended + quote;
    },
  };
}

function notNullAtOnce(type: GraphQLOutputType, selectionFor: CompletedField['selectionFor']): AtOnce | undefined {
  if (isLeafType(type)) return prepareLeaf(type).atOnce;
  return isObjectType(type) ? selectionFor(type).atOnce : undefined;
}

/** Prepares the specification's CompleteValue for a type. */
export function prepareCompletion(type: GraphQLOutputType, field: CompletedField): Complete {
  if (isNonNullType(type)) {
    const complete = prepareCompletion(type.ofType, field);
    return (value, path, run) => {
      if (value === null || value === undefined) {
        throw new Error(`Cannot return null for non-nullable field ${field.name}.`);
      }
      return complete(value, path, run);
    };
  }
  const complete = prepareNullable(type, field);
  return (value, path, run) => {
    if (value === null || value === undefined) return writeNull(run);
    if (value instanceof Error) throw value;
    return complete(value, path, run);
  };
}

function prepareNullable(type: GraphQLOutputType, field: CompletedField): Complete {
  if (isLeafType(type)) {
    const { write } = prepareLeaf(type);
    return (value, _path, run) => {
      const text = write(value);
      run.write(text.length);
      return text;
    };
  }
  if (isListType(type)) return prepareList(type.ofType as GraphQLOutputType, field);
  if (isObjectType(type)) return prepareObject(type, field);
  if (isAbstractType(type)) return prepareAbstract(type, field);
  throw new TypeError(`${String(type)} is no output type.`);
}

/** `isTypeOf` isn't asked: it would only check what the resolvers of this schema return. */
function prepareObject(type: GraphQLObjectType, field: CompletedField): Complete {
  let selection: ObjectWriter | undefined;
  return (value, path, run) => (selection ??= field.selectionFor(type)).write(value, path, run);
}

function prepareAbstract(type: GraphQLAbstractType, field: CompletedField): Complete {
  const completions = new Map<string, Complete>();
  const { resolveType } = type;
  const complete = (name: unknown, info: GraphQLResolveInfo): Complete => {
    const known = completions.get(name as string);
    if (known !== undefined) return known;
    const objectType = typeof name === 'string' ? info.schema.getType(name) : undefined;
    if (!isObjectType(objectType) || !info.schema.isSubType(type, objectType)) {
      throw new TypeError(`"${type.name}" of ${field.name} is resolved to ${String(name)}, which is no type of it.`);
    }
    const made = prepareObject(objectType, field);
    completions.set(objectType.name, made);
    return made;
  };
  return (value, path, run) => {
    const info = infoAbove(path, run, field);
    const name = (resolveType ?? defaultTypeResolver)(value, run.context, info, type);
    return isPromise(name)
      ? textOf(name, (resolved) => complete(resolved, info)(value, path, run))
      : complete(name, info)(value, path, run);
  };
}

/** The items of a list get the `info` of the field that the list belongs to. */
function infoAbove(path: Path, run: Run, field: CompletedField): GraphQLResolveInfo {
  let place = path;
  while (typeof place.key === 'number' && place.prev !== undefined) place = place.prev;
  return field.infoAt(place, run);
}

function prepareList(itemType: GraphQLOutputType, field: CompletedField): Complete {
  const complete = prepareCompletion(itemType, field);
  const isNullable = !isNonNullType(itemType);
  let list: PreparedList | undefined;
  return (value, path, run) => {
    if (typeof value !== 'object' || value === null || !(Symbol.iterator in value)) {
      throw new TypeError(`${field.name} is no list: ${inspect(value)}`);
    }
    const items = Array.isArray(value) ? (value as unknown[]) : Array.from(value as Iterable<unknown>);
    list ??= { nodes: field.nodes, complete, isNullable, atOnce: prepareAtOnce(itemType, field.selectionFor) };
    run.write(items.length === 0 ? 2 : items.length + 1);
    return new ListWriter(list, items, path, run).write();
  };
}
