import { getNamedType, isEnumType, isObjectType, type GraphQLObjectType, type GraphQLOutputType } from 'graphql';

import { unreadable } from '../../domain/errors.ts';
import type { StoredResult } from '../../domain/idempotency/idempotency-record.entity.ts';
import { DateTimeScalar } from '../date-time.scalar.ts';

type Fields = Readonly<Record<string, unknown>>;
type Read = (value: unknown) => unknown;

/** How the payloads of a root mutation are stored: ids, and rows with their own fields, without related rows. */
export interface PayloadCodec {
  readonly encode: (payload: unknown) => StoredResult;
  /**
   * Rows without related rows: those are loaded as they are now. Throws UNAVAILABLE for what a newer version has stored
   * and this one doesn't know.
   */
  readonly decode: (stored: StoredResult) => object;
}

export function payloadCodec(type: GraphQLOutputType): PayloadCodec {
  const payload = getNamedType(type) as GraphQLObjectType;
  const readers = Object.values(payload.getFields()).map((field) => [field.name, readerOf(field.type)] as const);
  return {
    encode: (value) => mapFields(value as Fields, (each) => (isRow(each) ? mapFields(each, withoutRows) : each)),
    decode: (stored: unknown) => {
      const fields = isRow(stored) ? stored : {};
      return Object.fromEntries(readers.map(([name, read]) => [name, read(fields[name])]));
    },
  };
}

function readerOf(type: GraphQLOutputType): Read {
  const named = getNamedType(type);
  if (!isObjectType(named)) return (value) => (typeof value === 'string' ? value : refuse(value));
  const readers = new Map(Object.values(named.getFields()).map((field) => [field.name, fieldReaderOf(field.type)]));
  return (row) => (isRow(row) ? mapFields(row, (value, name) => readers.get(name)?.(value) ?? value) : refuse(row));
}

/** Undefined where a value is stored as it is. */
function fieldReaderOf(type: GraphQLOutputType): Read | undefined {
  const named = getNamedType(type);
  if (named === DateTimeScalar) return (value) => (typeof value === 'string' ? new Date(value) : value);
  if (!isEnumType(named)) return undefined;
  const known = new Set<unknown>(named.getValues().map(({ value }) => value as unknown));
  return (value) => (known.has(value) ? value : refuse(value));
}

function refuse(value: unknown): never {
  throw unreadable(new TypeError(`A stored payload has ${JSON.stringify(value)?.slice(0, 60)}, which is not known.`));
}

function withoutRows(value: unknown): unknown {
  return isRow(value) ? undefined : value;
}

function isRow(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

function mapFields(fields: Fields, map: (value: unknown, name: string) => unknown): StoredResult {
  const mapped: Record<string, unknown> = {};
  for (const name of Object.keys(fields)) mapped[name] = map(fields[name], name);
  return mapped;
}
