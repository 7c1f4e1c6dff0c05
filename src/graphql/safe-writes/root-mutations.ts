import { defaultFieldResolver, type GraphQLField, type GraphQLSchema } from 'graphql';
import { Extensions } from 'type-graphql';

import { validationFailed } from '../../domain/errors.ts';
import { namedRows, type NamedRow } from '../../domain/named-rows.ts';
import type { NounName } from '../../domain/nouns.ts';
import type { LockStrength } from '../../domain/store.ts';
import type { GraphQLContext } from '../context.ts';
import { fingerprintOf } from './input-fingerprint.ts';
import { payloadCodec } from './stored-payload.ts';

/** Marks a mutation that only inserts: with an Idempotency-Key several of a client may be one transaction. */
export function Creates(): MethodDecorator {
  return Extensions({ creates: true });
}

/** Says what a mutation does to the row that its input names: what is done together locks all rows first. */
export function Writes(noun: NounName, strength: LockStrength): MethodDecorator {
  const named = ({ input }: Arguments): readonly NamedRow[] => namedRows(noun, input as Arguments, strength);
  return Extensions({ namedRows: named });
}

type Arguments = Readonly<Record<string, unknown>>;

/** The rows of the store that a root mutation with these arguments names; a mutation of keys names none. */
export function rowsNamedBy({ extensions }: GraphQLField<unknown, unknown>, args: Arguments): readonly NamedRow[] {
  return (extensions['namedRows'] as ((args: Arguments) => readonly NamedRow[]) | undefined)?.(args) ?? [];
}

/**
 * Lets each root mutation be carried out once for an Idempotency-Key, or together with others; otherwise it is resolved
 * as it is.
 */
export function carryOutOnce(schema: GraphQLSchema): void {
  for (const field of Object.values(schema.getMutationType()?.getFields() ?? {})) {
    const { resolve = defaultFieldResolver } = field;
    const isForKeys = field.extensions['scope'] === 'admin';
    if (!isForKeys && field.extensions['namedRows'] === undefined) throw new TypeError(`${field.name} needs @Writes.`);
    const codec = payloadCodec(field.type);
    field.resolve = (source, args: Arguments, context: GraphQLContext, info): unknown => {
      const { keyed, atomic } = context;
      if (atomic !== undefined) {
        if (isForKeys && atomic.isKeyed) throw notForKeys(field);
        return atomic.carryOut(String(info.path.key), codec, () => resolve(source, args, context, info));
      }
      if (keyed === undefined) return resolve(source, args, context, info);
      if (isForKeys) throw notForKeys(field);
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
function notForKeys({ name }: GraphQLField<unknown, unknown>): Error {
  const message = `is not offered for ${name}: send mutations of API keys without it.`;
  return validationFailed([{ field: 'Idempotency-Key', message }]);
}
