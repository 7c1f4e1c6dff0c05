import { hash } from 'node:crypto';

import {
  getNamedType,
  getNullableType,
  isLeafType,
  isNonNullType,
  isObjectType,
  TypeNameMetaFieldDef,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  type SelectionSetNode,
} from 'graphql';

import {
  collectFields,
  fragmentsIn,
  isIncluded,
  type LeafWriter,
  type OperationSource,
  prepareLeaf,
  type Variables,
} from '../../platform/executor/index.ts';
import { HttpError } from '../../http/error-table.ts';
import { overLimit } from '../pipeline/admission.ts';

/** A field by its response key and its name, with what is selected below it on each type that it may have. */
type Selected = readonly [key: string, name: string, below?: Readonly<Record<string, readonly Selected[]>>];

/** Appends a value's JSON text to a text. */
type Write = (text: string, source: unknown) => string;

/** What one selection may keep, and an estimate of what it keeps for each field besides its name in the response. */
const maxBytes = 64 * 1024;
const bytesOfField = 250;

/** What the result of one event may have. */
export const maxResultBytes = 64 * 1024;

/**
 * What a stream selects of each event, made anew of plain values: nothing of its document is kept, nor its variables,
 * which decide `@skip` and `@include` only. Fields of events take no arguments, and are read or computed at once.
 */
export class StreamSelection {
  /** Two operations that write the same have the same. */
  readonly key: string;
  /** An estimate of its memory. */
  readonly bytes: number;
  readonly #write: Write;

  /** Throws GRAPHQL_VALIDATION_FAILED for one that would keep too much. */
  constructor(source: OperationSource, variables: Variables) {
    const { schema, operation } = source;
    const root = schema.getSubscriptionType() as GraphQLObjectType;
    const text = JSON.stringify(select(source, variables, root, [operation.selectionSet]));
    this.key = hash('sha256', text, 'base64url');
    this.bytes = text.length + bytesOfField * (text.match(/\["/g)?.length ?? 0);
    if (this.bytes > maxBytes) throw tooLarge(this.bytes);
    // Parsed, so that no name is a part of the document's text, which it would keep.
    const [[key, name, below]] = JSON.parse(text) as [Selected];
    const start = `{"data":{${JSON.stringify(key)}:`;
    const write = writerOf(schema, (root.getFields()[name] as GraphQLField<unknown, unknown>).type, below);
    this.#write = (before, event) => `${write(before + start, event)}}}`;
  }

  /** The result for an event as JSON text. Throws RESULT_TOO_LARGE. */
  textOf(event: unknown): string {
    const text = this.#write('', event);
    if (Buffer.byteLength(text) > maxResultBytes) throw resultTooLarge();
    return text;
  }
}

function select(
  source: OperationSource,
  variables: Variables,
  type: GraphQLObjectType,
  sets: readonly SelectionSetNode[],
): readonly Selected[] {
  const { schema, document } = source;
  const fragments = fragmentsIn(document);
  const fields = collectFields({ schema, fragments }, type, sets, (node) => isIncluded(node, variables));
  return [...fields].map(([key, nodes]) => {
    const name = nodes[0].name.value;
    const setsBelow = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
    const typeBelow = getNamedType(type.getFields()[name]?.type);
    if (setsBelow.length === 0 || typeBelow === undefined) return [key, name];
    const below = possibleTypes(schema, typeBelow as GraphQLCompositeType).map(
      (possible) => [possible.name, select(source, variables, possible, setsBelow)] as const,
    );
    return [key, name, Object.fromEntries(below)];
  });
}

function possibleTypes(schema: GraphQLSchema, type: GraphQLCompositeType): readonly GraphQLObjectType[] {
  return isObjectType(type) ? [type] : schema.getPossibleTypes(type);
}

/** Writes a value of this type. */
function writerOf(schema: GraphQLSchema, type: GraphQLOutputType, below: Selected[2]): Write {
  const nullable = getNullableType(type);
  const write = isLeafType(nullable) ? leafWriter(prepareLeaf(nullable)) : objectWriter(schema, nullable, below);
  if (isNonNullType(type)) return write;
  return (text, value) => (value === null || value === undefined ? `${text}null` : write(text, value));
}

function leafWriter({ quote, append }: LeafWriter): Write {
  return (text, value) => append(text + quote, value) + quote;
}

function objectWriter(schema: GraphQLSchema, type: GraphQLOutputType, below: Selected[2] = {}): Write {
  const writers = new Map(Object.entries(below).map(([name, fields]) => [name, fieldsWriter(schema, name, fields)]));
  if (isObjectType(type)) return writers.get(type.name) as Write;
  return (text, value) => (writers.get((value as { readonly __typename: string }).__typename) as Write)(text, value);
}

function fieldsWriter(schema: GraphQLSchema, typeName: string, fields: readonly Selected[]): Write {
  if (fields.length === 0) return (text) => `${text}{}`;
  const type = schema.getType(typeName) as GraphQLObjectType;
  const starts = fields.map(([key], index) => `${index === 0 ? '{' : ','}${JSON.stringify(key)}:`);
  const writers = fields.map(([, name, below]) => fieldWriter(schema, type, name, below));
  return (before, source) => {
    let text = before;
    for (const [index, write] of writers.entries()) {
      if (text.length > maxResultBytes) throw resultTooLarge();
      text = write(text + (starts[index] as string), source);
    }
    return `${text}}`;
  };
}

/** Those of leaves, which all selections share. */
const leafFields = new WeakMap<GraphQLField<unknown, unknown>, Write>();

function fieldWriter(schema: GraphQLSchema, type: GraphQLObjectType, name: string, below: Selected[2]): Write {
  if (name === TypeNameMetaFieldDef.name) return (text) => `${text}"${type.name}"`;
  const field = type.getFields()[name] as GraphQLField<unknown, unknown>;
  const known = leafFields.get(field);
  if (known !== undefined) return known;
  const write = writerOf(schema, field.type, below);
  const { resolve } = field;
  const writer: Write =
    resolve === undefined
      ? (text, source) => write(text, (source as Readonly<Record<string, unknown>>)[name])
      : (text, source) => write(text, resolve(source, {}, undefined, {} as GraphQLResolveInfo));
  if (below === undefined) leafFields.set(field, writer);
  return writer;
}

function tooLarge(bytes: number): Error {
  return overLimit(
    `What the subscription selects would take ${bytes} bytes to remember, but at most ${maxBytes} are allowed: select fewer fields, or choose shorter aliases.`,
  );
}

function resultTooLarge(): HttpError {
  const message = `The result of this event would be larger than the ${maxResultBytes} bytes that are allowed: select fewer fields, and read the object itself.`;
  return new HttpError('RESULT_TOO_LARGE', message);
}
