import type { GraphQLObjectType, ResponsePath, SelectionSetNode } from 'graphql';

import type { PreparedField } from './field.ts';
import type { Variant } from './operation.ts';
import { Held, type Resolution } from './resolve.ts';
import { errorOf } from './run.ts';
import { prepareFields, type Append } from './write.ts';

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
  /** What an object takes at least, in characters. */
  readonly #length: number;
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
    this.#length = this.validFields.reduce((length, { key }) => length + key.length + '{"":'.length, 1);
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
    if (!resolution.grow(this.#length)) return held;
    for (const index of this.#indexesToResolve)
      (this.validFields[index] as PreparedField).resolve(held, index, path, resolution);
    return held;
  }

  /** Writes an object, held or not. */
  get append(): Append {
    return (this.#append ??= prepareFields(this.type, this.fields, [...this.fields.keys()], '}'));
  }

  /** They write one field each, without the bracket after the last one. */
  get fieldWriters(): readonly Append[] {
    return (this.#fieldWriters ??= this.fields.map((_field, index, all) => prepareFields(this.type, all, [index], '')));
  }

  get #indexesToResolve(): readonly number[] {
    return (this.#indexes ??= this.validFields.flatMap((field, index) => (field.needsResolving(false) ? index : [])));
  }
}
