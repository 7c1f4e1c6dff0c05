import {
  getNamedType,
  getNullableType,
  isCompositeType,
  isLeafType,
  isListType,
  type GraphQLCompositeType,
  type GraphQLOutputType,
  type ResponsePath,
} from 'graphql';

import { included } from './extensions.ts';
import { errorOf, isPromise, type Run, steps } from './run.ts';
import type { PreparedField, PreparedSelection } from './selection.ts';

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

/** Where a value belongs. */
export interface Place {
  /** Of a held object, or of a list. */
  readonly values: unknown[];
  readonly index: number;
  readonly path: ResponsePath;
  readonly descend: Descend;
}

/**
 * Goes on with the objects in a value. Returns what is put into its place: the value itself, or its objects with what is
 * resolved of their fields.
 */
export type Descend = (value: unknown, path: ResponsePath, resolution: Resolution) => unknown;

/**
 * The first phase: resolves what an operation needs, breadth first. It calls all resolvers of a level in one tick, and
 * may yield while it goes through their values.
 */
export class Resolution {
  readonly run: Run;
  #calls: { readonly resolve: () => unknown; readonly place: Place }[] = [];
  #promised: { readonly value: Promise<unknown>; readonly place: Place }[] = [];

  constructor(run: Run) {
    this.run = run;
  }

  /** Calls the resolver with the others of the next level. */
  call(resolve: () => unknown, place: Place): void {
    this.#calls.push({ resolve, place });
  }

  /**
   * Puts a value into its place, or the error with which it failed; a promised one when it is settled. Where it is
   * undefined, the resolver is called with the next level.
   */
  put(place: Place, valueOf: () => unknown, resolve?: () => unknown): void {
    const { values, index, path, descend } = place;
    this.run.count(steps.resolved);
    try {
      const value = valueOf();
      if (value === undefined && resolve !== undefined) this.call(resolve, place);
      // A rejection becomes a value now, or it would be unhandled while others are waited for.
      else if (isPromise(value)) this.#promised.push({ value: Promise.resolve(value).catch(errorOf), place });
      // Undefined would be read from the object while that is written.
      else if (value === undefined || value === null) values[index] = null;
      else values[index] = value instanceof Error ? value : descend(value, path, this);
    } catch (failure) {
      values[index] = errorOf(failure);
    }
  }

  async finish(): Promise<void> {
    while (this.#calls.length > 0 || this.#promised.length > 0) {
      const calls = this.#calls;
      this.#calls = [];
      for (const { resolve, place } of calls) this.put(place, resolve);
      const promised = this.#promised;
      this.#promised = [];
      if (promised.length === 0) continue;
      const values = await Promise.all(promised.map(({ value }) => value));
      for (const [index, { place }] of promised.entries()) {
        this.put(place, () => values[index]);
        const turn = this.run.pause(0);
        if (turn !== undefined) await turn;
      }
    }
  }
}

const asItIs: Descend = (value) => value;

/** Prepares the first phase for the values of a type. */
export function prepareDescent(type: GraphQLOutputType, field: PreparedField): Descend {
  const nullable = getNullableType(type);
  if (isListType(nullable)) {
    return descendIntoList(prepareDescent(nullable.ofType, field), isLeafType(getNamedType(nullable)));
  }
  return isCompositeType(nullable) ? descendIntoObject(nullable, field) : asItIs;
}

function descendIntoObject(type: GraphQLCompositeType, field: PreparedField): Descend {
  return (value, path, resolution) => {
    const selection = field.selectionOf(value, type, resolution.run);
    const { [included]: names } = value as { readonly [included]?: readonly string[] };
    const areIncluded = names !== undefined && field.relations.every((name) => names.includes(name));
    return selection.needsResolving(areIncluded) ? selection.resolve(value, path, resolution) : value;
  };
}

/** A value that is no list is refused when it is written. */
function descendIntoList(descend: Descend, isOfLeaves: boolean): Descend {
  return (value, prev, resolution) => {
    const items = itemsOf(value);
    if (items === undefined || (isOfLeaves && !items.some(mayBePromised))) return value;
    const values: unknown[] = [];
    for (let index = 0; index < items.length; index += 1) {
      const path: ResponsePath = { prev, key: index, typename: undefined };
      resolution.put({ values, index, path, descend }, () => items[index]);
    }
    return values;
  };
}

/** Of a leaf, or of lists of leaves: whether it is, or has, a promise. */
function mayBePromised(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Array.isArray(value) ? value.some(mayBePromised) : isPromise(value) || Symbol.iterator in value;
}

/** Undefined for a value that is no list. */
export function itemsOf(value: unknown): readonly unknown[] | undefined {
  if (Array.isArray(value)) return value as readonly unknown[];
  const isList = typeof value === 'object' && value !== null && Symbol.iterator in value;
  return isList ? Array.from(value as Iterable<unknown>) : undefined;
}
