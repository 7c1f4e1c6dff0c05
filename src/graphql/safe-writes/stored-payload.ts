import {
  getNullableType,
  GraphQLNonNull,
  type GraphQLLeafType,
  type GraphQLOutputType,
  isEnumType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';

import { parseId } from '../../domain/id.ts';
import { nounNames, nouns } from '../../domain/nouns.ts';
import type { StoredResult } from '../../domain/idempotency/idempotency-record.entity.ts';
import { DateTimeScalar } from '../date-time.scalar.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The rows of the nouns by their types; any other object is plain. */
const entities = new Map<string, new () => object>(nounNames.map((noun) => [nouns[noun].typeName, nouns[noun].entity]));

/** How the payloads of a root mutation are stored: ids, and rows with their own fields, without related rows. */
export interface PayloadCodec {
  readonly encode: (payload: unknown) => StoredResult;
  /** Rows without related rows: those are loaded as they are now. Throws for what isn't of the payload's type. */
  readonly decode: (stored: StoredResult) => object;
}

export function payloadCodec(type: GraphQLOutputType): PayloadCodec {
  const payload = new GraphQLNonNull(getNullableType(type));
  return {
    encode: (value) => mapFields(value as Fields, (each) => (isRow(each) ? mapFields(each, withoutRows) : each)),
    decode: (stored) => valueOf(payload, stored) as object,
  };
}

/** The value of the type that was stored as JSON. The fields of an object that are resolved aren't stored. */
function valueOf(type: GraphQLOutputType, stored: unknown): unknown {
  if (isNonNullType(type)) {
    if (stored === null || stored === undefined) throw new TypeError(`There is no ${String(type.ofType)}.`);
    return valueOf(type.ofType as GraphQLOutputType, stored);
  }
  if (stored === null || stored === undefined) return stored;
  if (isListType(type)) return (stored as readonly unknown[]).map((each) => valueOf(type.ofType, each));
  if (isObjectType(type)) {
    const fields = Object.values(type.getFields()).filter(({ resolve }) => resolve === undefined);
    const read = fields.map(({ name, type: each }) => [name, valueOf(each, (stored as Fields)[name])] as const);
    const row: object = new (entities.get(type.name) ?? Object)();
    Object.assign(row, stored, Object.fromEntries<unknown>(read));
    for (const [name, value] of Object.entries(row)) if (namesRow(name)) assertId(value);
    return row;
  }
  const value = type === DateTimeScalar ? new Date(stored as string) : stored;
  const written = (type as GraphQLLeafType).serialize(value);
  if (!isEnumType(type) && written !== stored) throw new TypeError(`This is no ${String(type)}.`);
  return value;
}

/** Whether the member is the id of a row, its own or that of another one that a field resolves. */
function namesRow(member: string): boolean {
  return member === 'id' || member.endsWith('Id');
}

function assertId(value: unknown): void {
  if (value === null || value === undefined) return;
  if (typeof value !== 'string' || parseId(value) === undefined) throw new TypeError('This is no id.');
}

function withoutRows(value: unknown): unknown {
  return isRow(value) ? undefined : value;
}

function isRow(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !(value instanceof Date);
}

function mapFields(fields: Fields, map: (value: unknown) => unknown): StoredResult {
  const mapped: Record<string, unknown> = {};
  for (const name of Object.keys(fields)) mapped[name] = map(fields[name]);
  return mapped;
}
