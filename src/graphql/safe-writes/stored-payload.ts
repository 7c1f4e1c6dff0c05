import { getNamedType, isObjectType, type GraphQLObjectType, type GraphQLOutputType } from 'graphql';

import type { StoredResult } from '../../domain/idempotency/idempotency-record.entity.ts';
import { DateTimeScalar } from '../date-time.scalar.ts';

type Fields = Readonly<Record<string, unknown>>;

/** How the payloads of a root mutation are stored: ids, and rows with their own fields, without related rows. */
export interface PayloadCodec {
  readonly encode: (payload: unknown) => StoredResult;
  /** Rows without related rows: those are loaded as they are now. */
  readonly decode: (stored: StoredResult) => object;
}

export function payloadCodec(type: GraphQLOutputType): PayloadCodec {
  const payload = getNamedType(type) as GraphQLObjectType;
  const instants = new Map(Object.values(payload.getFields()).map((field) => [field.name, instantsOf(field.type)]));
  return {
    encode: (value) => mapFields(value as Fields, (each) => (isRow(each) ? mapFields(each, withoutRows) : each)),
    decode: (stored) =>
      mapFields(stored, (each, name) => (isRow(each) ? withInstants(each, instants.get(name) ?? []) : each)),
  };
}

/** The names of the fields that hold a Date. */
function instantsOf(type: GraphQLOutputType): readonly string[] {
  const named = getNamedType(type);
  if (!isObjectType(named)) return [];
  return Object.values(named.getFields())
    .filter((field) => getNamedType(field.type) === DateTimeScalar)
    .map(({ name }) => name);
}

function withoutRows(value: unknown): unknown {
  return isRow(value) ? undefined : value;
}

function withInstants(row: Fields, names: readonly string[]): object {
  return mapFields(row, (value, name) => (names.includes(name) && typeof value === 'string' ? new Date(value) : value));
}

function isRow(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !(value instanceof Date);
}

function mapFields(fields: Fields, map: (value: unknown, name: string) => unknown): StoredResult {
  const mapped: Record<string, unknown> = {};
  for (const name of Object.keys(fields)) mapped[name] = map(fields[name], name);
  return mapped;
}
