import { inspect } from 'node:util';

import {
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  type GraphQLObjectType,
  type GraphQLOutputType,
} from 'graphql';

import type { PreparedField } from './field.ts';
import { Held, itemsOf } from './held.ts';
import { prepareLeaf } from './leaf.ts';
import type { Run } from './run.ts';

/** Appends the JSON text of a value to a text; throws what makes its place null. */
export type Append = (text: string, value: unknown, run: Run) => string;

/** How the values of a type are written that are neither null nor undefined. */
export interface ValueWriter {
  /** Written before and after the value: it becomes part of the constant text of a field. */
  readonly quote: '"' | '';
  /** Appends the value's text without its quotes. */
  readonly append: Append;
  readonly isNullable: boolean;
  /** An object, or a list. */
  readonly isComposite: boolean;
  readonly value: PreparedField;
}

/** Prepares the second phase for a type: the specification's CompleteValue, of what has been resolved. */
export function prepareWriter(type: GraphQLOutputType, value: PreparedField): ValueWriter {
  const isNullable = !isNonNullType(type);
  const notNull = isNullable ? type : (type.ofType as GraphQLOutputType);
  const kind = { isNullable, isComposite: !isLeafType(notNull), value };
  if (isListType(notNull)) return { quote: '', append: listWriter(prepareWriter(notNull.ofType, value)), ...kind };
  if (isObjectType(notNull)) return { quote: '', append: objectWriter(notNull, value), ...kind };
  if (!isLeafType(notNull)) return { quote: '', append: appendHeld, ...kind };
  const { quote, append } = prepareLeaf(notNull);
  if (!isNullable || quote === '') return { quote, append, ...kind };
  return { quote: '', append: (text, leaf) => append(text + quote, leaf) + quote, ...kind };
}

/** `isTypeOf` isn't asked: it would only check what the resolvers of this schema return. */
function objectWriter(type: GraphQLObjectType, field: PreparedField): Append {
  let append: Append | undefined;
  return (text, value, run) => {
    if (value instanceof Error) throw value;
    return (append ??= field.selectionFor(type).append)(text, value, run);
  };
}

/** An object of an abstract type. */
const appendHeld: Append = (text, value, run) => {
  if (!(value instanceof Held)) throw value;
  return value.selection.append(text, value, run);
};

/** The text of a value that is null. */
function nullText({ isNullable, value }: ValueWriter): string {
  if (isNullable) return 'null';
  throw new Error(`Cannot return null for non-nullable field ${value.label}.`);
}

function listWriter(item: ValueWriter): Append {
  const { quote, append, isNullable, value: field } = item;
  return (before, value, run) => {
    if (value instanceof Error) throw value;
    const items = itemsOf(value);
    if (items === undefined) throw new TypeError(`${field.label} is no list: ${inspect(value)}`);
    const { sink, keys, depth } = run;
    let text = before;
    let last = text;
    let chunkCount = 0;
    let index = 0;
    while (index < items.length) {
      run.depth = depth + 1;
      try {
        for (; index < items.length; index += 1) {
          last = text;
          ({ chunkCount } = sink);
          keys[depth] = index;
          const each = items[index];
          text += (index === 0 ? '[' : ',') + quote;
          text = each === null || each === undefined ? text + nullText(item) : append(text, each, run);
          text = sink.flushed(text + quote);
        }
      } catch (failure) {
        run.fail(failure, isNullable, field.nodes, depth + 1);
        sink.truncate(chunkCount);
        text = `${last}${index === 0 ? '[' : ','}null`;
        index += 1;
      }
    }
    run.depth = depth;
    return items.length === 0 ? `${text}[]` : `${text}]`;
  };
}

/** A field of an object, as it is written. */
export interface FieldWriter extends ValueWriter {
  readonly key: string;
  /** The name of the property. */
  readonly property: string;
  /** All constant text since the value before it. */
  readonly start: string;
  /** Its index in the selection. */
  readonly at: number;
  /** Computes the value from the object; undefined for a property. */
  readonly compute: ((source: unknown, run: Run) => unknown) | undefined;
}

/** Writes the fields of an object, and the text after the last of them. */
export function fieldsWriter(fields: readonly FieldWriter[], end: string): Append {
  return (before, value, run) => {
    const isHeld = value instanceof Held;
    const source = (isHeld ? value.source : value) as Readonly<Record<string, unknown>> | null;
    if (typeof source !== 'object' || source === null) throw new TypeError(`This is no object: ${inspect(source)}`);
    const values = isHeld ? value.values : undefined;
    const { sink, keys, depth } = run;
    let text = before;
    let last = text;
    let chunkCount = 0;
    let index = 0;
    while (index < fields.length) {
      run.depth = depth + 1;
      try {
        for (; index < fields.length; index += 1) {
          const field = fields[index] as FieldWriter;
          last = text;
          keys[depth] = field.key;
          if (field.isComposite) ({ chunkCount } = sink);
          let known = values === undefined ? undefined : values[field.at];
          if (known === undefined) {
            known = field.compute === undefined ? source[field.property] : field.compute(source, run);
          }
          text += field.start;
          text = known === null || known === undefined ? text + nullText(field) : field.append(text, known, run);
        }
      } catch (failure) {
        const field = fields[index] as FieldWriter;
        run.fail(failure, field.isNullable, field.value.nodes, depth + 1);
        if (field.isComposite) sink.truncate(chunkCount);
        text = `${last}${field.start}null`;
        index += 1;
      }
    }
    run.depth = depth;
    return sink.flushed(text + end);
  };
}
