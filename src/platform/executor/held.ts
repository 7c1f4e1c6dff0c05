import {
  getNullableType,
  isCompositeType,
  isListType,
  type GraphQLCompositeType,
  type GraphQLOutputType,
} from 'graphql';

import type { PreparedField } from './field.ts';
import { included } from './marks.ts';
import type { Descend } from './resolve.ts';
import { isPromise, type Path } from './run.ts';
import type { PreparedSelection } from './selection.ts';

/** An object with what has been resolved of its fields. */
export class Held {
  readonly selection: PreparedSelection;
  readonly source: unknown;
  /** By the index of the field in the selection; undefined for one that is read while the object is written. */
  readonly values: unknown[];

  constructor(selection: PreparedSelection, source: unknown, values: unknown[]) {
    this.selection = selection;
    this.source = source;
    this.values = values;
  }
}

const asItIs: Descend = (value) => value;

/** Prepares the first phase for the values of a type. */
export function prepareDescent(type: GraphQLOutputType, field: PreparedField): Descend {
  const nullable = getNullableType(type);
  if (isListType(nullable)) return descendIntoList(prepareDescent(nullable.ofType, field));
  return isCompositeType(nullable) ? descendIntoObject(nullable, field) : asItIs;
}

function descendIntoObject(type: GraphQLCompositeType, field: PreparedField): Descend {
  return (value, path, resolution) => {
    const selection = field.selectionOf(value, type, resolution.run);
    if (!selection.needsResolving(false)) return value;
    if (includesAll(value, field.relations) && !selection.needsResolving(true)) return value;
    return selection.resolve(value, path, resolution);
  };
}

function includesAll(value: unknown, relations: readonly string[]): boolean {
  const names = (value as { readonly [included]?: readonly string[] })[included];
  return names !== undefined && relations.every((name) => names.includes(name));
}

/** A value that is no list is refused when it is written. */
function descendIntoList(descend: Descend): Descend {
  return (value, prev, resolution) => {
    const items = itemsOf(value);
    if (items === undefined || (descend === asItIs && !items.some(isPromise))) return value;
    const values: unknown[] = [];
    for (let index = 0; index < items.length; index += 1) {
      const path: Path = { prev, key: index, typename: undefined };
      resolution.put({ values, index, path, descend }, () => items[index]);
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
