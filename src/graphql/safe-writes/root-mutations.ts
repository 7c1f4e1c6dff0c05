import {
  defaultFieldResolver,
  getNamedType,
  getNullableType,
  GraphQLID,
  isInputObjectType,
  isListType,
  type GraphQLField,
  type GraphQLSchema,
} from 'graphql';
import { Extensions } from 'type-graphql';

import { validationFailed } from '../../domain/errors.ts';
import type { NamedRow } from '../../domain/named-rows.ts';
import { type NounName, nounNames, nouns } from '../../domain/nouns.ts';
import type { GraphQLContext } from '../context.ts';
import { scopesOf } from '../scopes.ts';
import { fingerprintOf } from './input-fingerprint.ts';
import { payloadCodec } from './stored-payload.ts';

/** Says which rows the input of a mutation names: what is done together locks all of them first. */
export function Writes<Input>(rowsOf: RowsOf<Input>): MutationDecorator<Input> {
  return Extensions({ rowsOf });
}

/** With an Idempotency-Key several of a client may be one transaction, so it locks rows for being named only. */
export function Creates<Input = never>(rowsOf: RowsOf<Input> = () => []): MutationDecorator<Input> {
  return Extensions({ rowsOf, creates: true });
}

type RowsOf<Input> = (input: Input) => readonly NamedRow[];
/** The decorator of a method whose input is of the same type. */
type MutationDecorator<Input> = <Method extends (input: Input, ...others: never[]) => unknown>(
  target: object,
  name: string,
  descriptor: TypedPropertyDescriptor<Method>,
) => void;

type Arguments = Readonly<Record<string, unknown>>;
type RootMutation = GraphQLField<unknown, unknown>;

/** The rows of the store that a root mutation with these arguments names; a mutation of keys or webhooks names none. */
export function rowsNamedBy({ extensions }: RootMutation, { input }: Arguments): readonly NamedRow[] {
  return (extensions['rowsOf'] as RowsOf<unknown> | undefined)?.(input) ?? [];
}

/** Throws where a row that the input names by an id would not be locked first. */
function assertNamesRows(field: RootMutation): void {
  if (field.extensions['rowsOf'] === undefined) throw new TypeError(`${field.name} needs @Writes or @Creates.`);
  const inputType = getNullableType(field.args[0]?.type);
  if (!isInputObjectType(inputType)) throw new TypeError(`${field.name} needs an input.`);
  const ids = Object.values(inputType.getFields()).filter(({ type }) => getNamedType(type) === GraphQLID);
  // The input whose ids are their own names.
  const named = ids.map(({ name, type }) => [name, isListType(getNullableType(type)) ? [name] : name]);
  const rows = rowsNamedBy(field, { input: Object.fromEntries(named) as object });
  const locked = field.extensions['creates'] === true ? rows.find(({ strength }) => strength !== 'refer') : undefined;
  if (locked !== undefined)
    throw new TypeError(`@Creates of ${field.name} locks a ${locked.noun} to ${locked.strength} it: it needs @Writes.`);
  for (const { id } of rows) {
    if (typeof id !== 'object' || id === null) continue;
    if (rows.some((row) => row.noun === id.noun && row.id === id.id)) continue;
    throw new TypeError(`@Writes of ${field.name} names a row behind the ${id.noun} ${id.id}, but not that one.`);
  }
  for (const { name } of ids) {
    const found = rows.filter(({ id }) => id === name).map(({ noun }) => noun);
    const expected = nounNames.find((noun) => noun === name.replace(/Ids?$/, '') || isOwnId(name, noun, field));
    if (found.length > 0 && (expected === undefined || found.includes(expected))) continue;
    const problem = `@Writes or @Creates of ${field.name} names no ${expected ?? 'row'} by ${name}`;
    throw new TypeError(found.length > 0 ? `${problem}, but ${found.join(' and ')}.` : `${problem}.`);
  }
}

/** `id` is that of a pet where the mutation is `updatePet`. */
function isOwnId(name: string, noun: NounName, { name: mutation }: RootMutation): boolean {
  return name === 'id' && mutation.endsWith(nouns[noun].typeName);
}

/** Lets each root mutation be carried out once for an Idempotency-Key, or together with others. */
export function carryOutOnce(schema: GraphQLSchema): void {
  for (const field of Object.values(schema.getMutationType()?.getFields() ?? {})) {
    const { resolve = defaultFieldResolver } = field;
    const isOfStore = scopesOf(field).includes('write');
    if (isOfStore) assertNamesRows(field);
    const codec = payloadCodec(field);
    field.resolve = (source, args: Arguments, context: GraphQLContext, info): unknown => {
      const { keyed, atomic } = context;
      if (atomic !== undefined) {
        if (atomic.isKeyed && !isOfStore) throw notOffered(field);
        return atomic.resolve(String(info.path.key), codec, () => resolve(source, args, context, info));
      }
      if (keyed === undefined) return resolve(source, args, context, info);
      if (!isOfStore) throw notOffered(field);
      const request = {
        field: String(info.path.key),
        fingerprint: fingerprintOf(field.name, field.args, args),
        isInsertion: field.extensions['creates'] === true,
        codec,
      };
      return context.mutate(() =>
        keyed.once(request, async (stores) => (await resolve(source, args, context.inside(stores), info)) as object),
      );
    };
  }
}

/** The result would be stored with its secret, or be replayed though the key has changed since. */
function notOffered({ name }: RootMutation): Error {
  const message = `is not offered for ${name}: send mutations of keys and webhooks without it.`;
  return validationFailed([{ field: 'Idempotency-Key', message }]);
}
