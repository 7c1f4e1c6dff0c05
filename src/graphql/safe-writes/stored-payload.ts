import {
  getNamedType,
  getNullableType,
  GraphQLNonNull,
  type GraphQLField,
  type GraphQLLeafType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  isAbstractType,
  isEnumType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';

import { parseId } from '../../domain/id.ts';
import { nounNames, nouns } from '../../domain/nouns.ts';
import type { StoredResult } from '../../domain/idempotency/idempotency-record.entity.ts';
import type { ScalarValues } from '../date-time.scalar.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The rows of the nouns by their types; any other object is plain. */
const entities = new Map<string, new () => object>(nounNames.map((noun) => [nouns[noun].typeName, nouns[noun].entity]));

/** How the payloads of a root mutation are stored: ids, and rows with their own fields, without related rows. */
export interface PayloadCodec {
  readonly encode: (payload: unknown) => StoredResult;
  /** Rows without related rows: those are loaded as they are now. Throws for what isn't of the payload's type. */
  readonly decode: (stored: StoredResult) => object;
}

/** Throws for a payload with a field that could not be replayed. */
export function payloadCodec({ name: mutation, type }: GraphQLField<unknown, unknown>): PayloadCodec {
  const payload = new GraphQLNonNull(getNullableType(type));
  for (const field of Object.values((getNamedType(type) as GraphQLObjectType).getFields())) {
    if (field.resolve === undefined && !isAbstractType(getNamedType(field.type))) continue;
    throw new TypeError(
      `${field.name} of the payload of ${mutation} has to be a property of a type that isn't abstract.`,
    );
  }
  return {
    encode: (value) => storedOf(payload, value) as StoredResult,
    decode: (stored) => valueOf(payload, stored) as object,
  };
}

/** The part of a value of the type that is stored. */
function storedOf(type: GraphQLOutputType, value: unknown): unknown {
  if (value === null || value === undefined) return value;
  const nullable = getNullableType(type);
  if (isListType(nullable)) return Array.from(value as Iterable<unknown>, (each) => storedOf(nullable.ofType, each));
  if (!isObjectType(nullable)) return value;
  const stored: Record<string, unknown> = {};
  // Members that the type doesn't have may be ids that its resolvers need.
  for (const [name, member] of Object.entries(value)) if (!isObject(member)) stored[name] = member;
  for (const { name, type: each } of propertiesOf(nullable)) stored[name] = storedOf(each, (value as Fields)[name]);
  return stored;
}

/** The value of the type that was stored as JSON. */
function valueOf(type: GraphQLOutputType, stored: unknown): unknown {
  if (isNonNullType(type)) {
    if (stored === null || stored === undefined) throw new TypeError(`There is no ${String(type.ofType)}.`);
    return valueOf(type.ofType as GraphQLOutputType, stored);
  }
  if (stored === null || stored === undefined) return stored;
  if (isListType(type)) return (stored as readonly unknown[]).map((each) => valueOf(type.ofType, each));
  if (isObjectType(type)) {
    const read = propertiesOf(type).map(
      ({ name, type: each }) => [name, valueOf(each, (stored as Fields)[name])] as const,
    );
    const row: object = new (entities.get(type.name) ?? Object)();
    Object.assign(row, stored, Object.fromEntries<unknown>(read));
    for (const [name, value] of Object.entries(row)) if (namesRow(name)) assertId(value);
    return row;
  }
  const { fromJson } = type.extensions as Partial<ScalarValues>;
  const value = fromJson === undefined ? stored : fromJson(stored);
  const written = (type as GraphQLLeafType).serialize(value);
  if (!isEnumType(type) && written !== stored) throw new TypeError(`This is no ${String(type)}.`);
  return value;
}

/** The fields of an object that aren't resolved: others aren't stored. */
function propertiesOf(type: GraphQLObjectType): readonly GraphQLField<unknown, unknown>[] {
  return Object.values(type.getFields()).filter(({ resolve }) => resolve === undefined);
}

/** Whether the member is the id of a row, its own or that of another one that a field resolves. */
function namesRow(member: string): boolean {
  return member === 'id' || member.endsWith('Id');
}

function assertId(value: unknown): void {
  if (value === null || value === undefined) return;
  if (typeof value !== 'string' || parseId(value) === undefined) throw new TypeError('This is no id.');
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}
