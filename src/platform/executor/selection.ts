import { TypeNameMetaFieldDef, type GraphQLObjectType, type SelectionSetNode } from 'graphql';

import type { PreparedField } from './field.ts';
import { Held } from './held.ts';
import type { Resolution } from './resolve.ts';
import { errorOf, type Path } from './run.ts';
import type { Variant } from './variant.ts';
import { fieldsWriter, type Append, type FieldWriter } from './write.ts';

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
  /** The indexes of the fields that need resolving, in rows that include their relations and in others. */
  #complete: readonly number[] | undefined;
  #others: readonly number[] | undefined;
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
  needsResolving(isComplete: boolean): boolean {
    return this.#fieldsToResolve(isComplete).length > 0;
  }

  /** Begins to resolve the fields of an object. */
  resolve(source: unknown, path: Path | undefined, resolution: Resolution): Held {
    const held = new Held(this, source, this.#unread.slice());
    if (!resolution.grow(this.#length)) return held;
    for (const index of this.#fieldsToResolve(false))
      (this.validFields[index] as PreparedField).resolve(held, index, path, resolution);
    return held;
  }

  /** Writes an object, held or not. */
  get append(): Append {
    return (this.#append ??= writerOf(this, [...this.fields.keys()], '}'));
  }

  /** They write one field each, without the bracket after the last one. */
  get fieldWriters(): readonly Append[] {
    return (this.#fieldWriters ??= this.fields.map((_field, index) => writerOf(this, [index], '')));
  }

  #fieldsToResolve(isComplete: boolean): readonly number[] {
    const fields = (): number[] =>
      this.validFields.flatMap((field, index) => (field.needsResolving(isComplete) ? [index] : []));
    return isComplete ? (this.#complete ??= fields()) : (this.#others ??= fields());
  }
}

function writerOf({ type, fields }: PreparedSelection, indexes: readonly number[], end: string): Append {
  const writers: FieldWriter[] = [];
  let constant = '';
  for (const index of indexes) {
    const field = fields[index] as PreparedField;
    constant += `${index === 0 ? '{' : ','}${JSON.stringify(field.key)}:`;
    if (field.definition === TypeNameMetaFieldDef) constant += `"${type.name}"`;
    else {
      const { writer } = field;
      writers.push({ field, writer, start: constant + writer.quote, at: index });
      constant = writer.quote;
    }
  }
  return fieldsWriter(writers, (fields.length === 0 ? '{' : constant) + end);
}
