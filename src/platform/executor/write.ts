import { inspect } from 'node:util';

import {
  GraphQLBoolean,
  type GraphQLCompositeType,
  type GraphQLEnumType,
  GraphQLID,
  GraphQLInt,
  type GraphQLLeafType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  GraphQLString,
  isEnumType,
  isLeafType,
  isListType,
  isNonNullType,
  isSpecifiedScalarType,
  TypeNameMetaFieldDef,
} from 'graphql';

import type { PreparedField } from './selection.ts';
import { Held, itemsOf } from './resolve.ts';
import { type Frame, type Run, Suspension } from './run.ts';

/** Appends the JSON text of a value to a text; throws what makes its place null. */
export type Append = (text: string, value: unknown, run: Run) => string;

/** How the values of a type are written that are neither null nor undefined. */
export interface ValueWriter {
  /**
   * Written before and after the value: it becomes part of the constant text of a field. With quotes that are appended
   * to each value a page of 20 rows takes a tenth longer to execute.
   */
  readonly quote: '"' | '';
  /** Appends the value's text without its quotes. */
  readonly append: Append;
  readonly isNullable: boolean;
}

/** Prepares the second phase for a type: the specification's CompleteValue, of what has been resolved. */
export function prepareWriter(type: GraphQLOutputType, field: PreparedField): ValueWriter {
  const isNullable = !isNonNullType(type);
  const notNull = isNullable ? type : (type.ofType as GraphQLOutputType);
  if (isLeafType(notNull)) {
    const { quote, append } = prepareLeaf(notNull);
    if (!isNullable || quote === '') return { quote, append, isNullable };
    return { quote: '', append: (text, value, run) => `${append(text + quote, value, run)}${quote}`, isNullable };
  }
  const append = isListType(notNull)
    ? listWriter(prepareWriter(notNull.ofType, field), field)
    : objectWriter(notNull, field);
  return { quote: '', append, isNullable };
}

/** `isTypeOf` isn't asked: it would only check what the resolvers of this schema return. */
function objectWriter(type: GraphQLCompositeType, field: PreparedField): Append {
  return (text, value, run) => {
    if (value instanceof Error) throw value;
    const selection = value instanceof Held ? value.selection : field.selectionOf(value, type, run);
    return selection.append(text, value, run);
  };
}

/** Of an object or a list that is written from its beginning. */
const beginning: Frame = { index: 0, last: '', chunkCount: 0, value: undefined };

/**
 * Appends the text of a value at the root, and flushes it. Where others are next, it is a promise: the writers go on at
 * their frames.
 */
export function write(append: Append, text: string, value: unknown, run: Run): string | Promise<string> {
  try {
    return run.flushed(append(text, value, run));
  } catch (failure) {
    if (!(failure instanceof Suspension)) throw failure;
    return resume(append, failure, value, run);
  }
}

async function resume(append: Append, { turn, text, frames }: Suspension, value: unknown, run: Run): Promise<string> {
  await turn;
  run.frames = frames;
  run.depth = 0;
  return write(append, text, value, run);
}

function nullText({ isNullable }: ValueWriter, field: PreparedField): string {
  if (isNullable) return 'null';
  throw new Error(`Cannot return null for non-nullable field ${field.label}.`);
}

function listWriter(item: ValueWriter, field: PreparedField): Append {
  const { quote, append, isNullable } = item;
  return (before, value, run) => {
    if (value instanceof Error) throw value;
    let frame = run.frames.pop();
    const items = frame === undefined ? itemsOf(value) : (frame.value as readonly unknown[]);
    if (items === undefined) throw new TypeError(`${field.label} is no list: ${inspect(value)}`);
    const { sink, keys, depth } = run;
    let text = before;
    let { index, last, chunkCount } = frame ?? beginning;
    while (index < items.length) {
      run.depth = depth + 1;
      try {
        for (; index < items.length; index += 1) {
          keys[depth] = index;
          if (frame === undefined) {
            last = run.flushed(text);
            ({ chunkCount } = sink);
            text = last + (index === 0 ? '[' : ',') + quote;
            run.step(text);
          }
          frame = undefined;
          const each = items[index];
          text = each === null || each === undefined ? text + nullText(item, field) : append(text, each, run);
          text += quote;
        }
      } catch (failure) {
        if (failure instanceof Suspension) throw failure.within({ index, last, chunkCount, value: items });
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
interface FieldWriter {
  readonly field: PreparedField;
  readonly writer: ValueWriter;
  /** All constant text since the value before it. */
  readonly start: string;
  /** Its index in the selection. */
  readonly at: number;
}

/** Prepares the second phase for those fields of an object that have these indexes, and for the text after them. */
export function prepareFields(
  type: GraphQLObjectType,
  fields: readonly PreparedField[],
  indexes: readonly number[],
  end: string,
): Append {
  const writers: FieldWriter[] = [];
  let constant = fields.length === 0 ? '{' : '';
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
  return fieldsWriter(writers, constant + end);
}

/** Writes the fields of an object, and the text after the last of them. */
function fieldsWriter(fields: readonly FieldWriter[], end: string): Append {
  return (before, value, run) => {
    const isHeld = value instanceof Held;
    const source: unknown = isHeld ? value.source : value;
    if (typeof source !== 'object' || source === null) throw new TypeError(`This is no object: ${inspect(source)}`);
    const values = isHeld ? value.values : undefined;
    const { sink, keys, depth } = run;
    let frame = run.frames.pop();
    let text = before;
    let { index, last, chunkCount, value: known } = frame ?? beginning;
    while (index < fields.length) {
      run.depth = depth + 1;
      try {
        for (; index < fields.length; index += 1) {
          const { field, writer, start, at } = fields[index] as FieldWriter;
          keys[depth] = field.key;
          if (frame === undefined) {
            last = run.flushed(text);
            ({ chunkCount } = sink);
            known = values === undefined ? undefined : values[at];
            if (known === undefined) known = field.read(source, run);
            text = last + start;
            run.step(text);
          }
          frame = undefined;
          text =
            known === null || known === undefined ? text + nullText(writer, field) : writer.append(text, known, run);
        }
      } catch (failure) {
        if (failure instanceof Suspension) throw failure.within({ index, last, chunkCount, value: known });
        const { field, writer, start } = fields[index] as FieldWriter;
        run.fail(failure, writer.isNullable, field.nodes, depth + 1);
        sink.truncate(chunkCount);
        text = `${last}${start}null`;
        index += 1;
      }
    }
    run.depth = depth;
    return text + end;
  };
}

/** Its `append` throws what the type's `serialize` throws. */
type LeafWriter = Pick<ValueWriter, 'quote' | 'append'>;

/** Characters that JSON escapes, or may escape. */
// oxlint-disable-next-line no-control-regex
const escapedCharacter = /["\\\u0000-\u001F\uD800-\uDFFF]/;

const writers = new WeakMap<GraphQLLeafType, LeafWriter>();

/**
 * Prepares a leaf type, once for all fields. Values of the usual kinds are written as they are, all others as
 * `serialize` has them.
 */
export function prepareLeaf(type: GraphQLLeafType): LeafWriter {
  const writer = writers.get(type) ?? makeWriter(type);
  writers.set(type, writer);
  return writer;
}

function makeWriter(type: GraphQLLeafType): LeafWriter {
  if (isEnumType(type)) return enumWriter(type);
  if (type === GraphQLString || type === GraphQLID) {
    const append: LeafWriter['append'] = (text, value) =>
      text + (typeof value === 'string' ? escaped(value) : unquoted(type, value));
    return { quote: '"', append };
  }
  if (!isSpecifiedScalarType(type)) {
    const append: Append = (text, value, run) => text + String(run.once(type, value, () => serialized(type, value)));
    return { quote: '', append };
  }
  const isPlain = type === GraphQLInt ? isInt : type === GraphQLBoolean ? isBoolean : isUnknown;
  return { quote: '', append: (text, value) => text + (isPlain(value) ? String(value) : serialized(type, value)) };
}

const isInt = (value: unknown): boolean => typeof value === 'number' && (value | 0) === value;
const isBoolean = (value: unknown): boolean => typeof value === 'boolean';
const isUnknown = (): boolean => false;

function escaped(text: string): string {
  return escapedCharacter.test(text) ? JSON.stringify(text).slice(1, -1) : text;
}

function enumWriter(type: GraphQLEnumType): LeafWriter {
  // Of several names for a value the last one counts, as in `serialize`.
  const names = [...new Map(type.getValues().map(({ name, value }) => [value as unknown, name]))];
  const append: LeafWriter['append'] = (text, value) => {
    // A few comparisons cost less than hashing, which a map needs for every new string.
    for (const [each, name] of names) if (each === value) return text + name;
    return text + unquoted(type, value);
  };
  return { quote: '"', append };
}

/** Of a type that is written as a string. */
function unquoted(type: GraphQLLeafType, value: unknown): string {
  return serialized(type, value).slice(1, -1);
}

function serialized(type: GraphQLLeafType, value: unknown): string {
  if (value instanceof Error) throw value;
  const text = JSON.stringify(type.serialize(value)) as string | undefined;
  if (text === undefined || text === 'null') {
    throw new Error(`Expected \`${type.name}.serialize\` to return a value that JSON can hold.`);
  }
  return text;
}
