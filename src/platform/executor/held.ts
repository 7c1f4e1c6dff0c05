import {
  defaultTypeResolver,
  getNullableType,
  isAbstractType,
  isListType,
  isObjectType,
  type GraphQLAbstractType,
  type GraphQLOutputType,
} from 'graphql';

import type { PreparedField } from './field.ts';
import { included } from './marks.ts';
import type { Hold } from './resolve.ts';
import { isPromise, type Path } from './run.ts';
import type { PreparedSelection } from './selection.ts';

/** An object with what has been resolved of its fields. */
export class Held {
  readonly selection: PreparedSelection;
  readonly source: unknown;
  /** By the index of the field in the selection; undefined for one that is read while the object is written. */
  readonly values: readonly unknown[];

  constructor(selection: PreparedSelection, source: unknown, values: readonly unknown[]) {
    this.selection = selection;
    this.source = source;
    this.values = values;
  }
}

const asItIs: Hold = (value) => value;

/** Prepares what is held of the values of a type. */
export function prepareHold(type: GraphQLOutputType, field: PreparedField): Hold {
  const nullable = getNullableType(type);
  if (isListType(nullable)) return holdList(prepareHold(nullable.ofType, field));
  if (isAbstractType(nullable)) return holdAbstract(nullable, field);
  if (!isObjectType(nullable)) return asItIs;
  let selection: PreparedSelection | undefined;
  return (value, { path, isComplete }, resolution) => {
    selection ??= field.selectionFor(nullable);
    if (!selection.needs(isComplete)) return value;
    const isNowComplete = isComplete || includesAll(value, field.relations);
    return selection.needs(isNowComplete) ? selection.hold(value, path, isNowComplete, resolution) : value;
  };
}

function includesAll(value: unknown, relations: readonly string[]): boolean {
  const names = (value as { readonly [included]?: readonly string[] })[included];
  return names !== undefined && relations.every((name) => names.includes(name));
}

/** A value that is no list is refused when it is written. */
function holdList(hold: Hold): Hold {
  return (value, { path: prev, isComplete }, resolution) => {
    const items = itemsOf(value);
    if (items === undefined || (hold === asItIs && !items.some(isPromise))) return value;
    const values: unknown[] = [];
    for (let index = 0; index < items.length; index += 1) {
      const path: Path = { prev, key: index, typename: undefined };
      resolution.put({ values, index, path, isComplete, hold }, () => items[index]);
    }
    return values;
  };
}

/** Undefined for a value that is no list. */
export function itemsOf(value: unknown): readonly unknown[] | undefined {
  if (Array.isArray(value)) return value as readonly unknown[];
  const isList = typeof value === 'object' && value !== null && Symbol.iterator in value;
  return isList ? Array.from(value as Iterable<unknown>) : undefined;
}

/** Only its own type says which fields an object has, so that it is always held. */
function holdAbstract(type: GraphQLAbstractType, field: PreparedField): Hold {
  const resolveType = type.resolveType ?? defaultTypeResolver;
  return (value, place, resolution) => {
    const { path, isComplete } = place;
    const info = field.infoAt(fieldPathOf(path), resolution.run);
    const hold = (name: unknown): Held => {
      const objectType = typeof name === 'string' ? info.schema.getType(name) : undefined;
      if (!isObjectType(objectType) || !info.schema.isSubType(type, objectType)) {
        throw new TypeError(`"${type.name}" of ${field.label} is resolved to ${String(name)}, which is no type of it.`);
      }
      return field.selectionFor(objectType).hold(value, path, isComplete, resolution);
    };
    const name = resolveType(value, resolution.run.context, info, type);
    if (!isPromise(name)) return hold(name);
    resolution.put({ ...place, hold }, () => name);
    return null;
  };
}

/** The items of a list get the `info` of the field that the list belongs to. */
function fieldPathOf(path: Path): Path {
  let place = path;
  while (typeof place.key === 'number' && place.prev !== undefined) place = place.prev;
  return place;
}
