import { defaultFieldResolver, type GraphQLField, type GraphQLSchema } from 'graphql';
import { Extensions } from 'type-graphql';

import { validationFailed } from '../../domain/errors.ts';
import type { GraphQLContext } from '../context.ts';
import { fingerprintOf } from './input-fingerprint.ts';
import { payloadCodec } from './stored-payload.ts';

/** Marks a mutation that only inserts: with an Idempotency-Key several of a client may be one transaction. */
export function Creates(): MethodDecorator {
  return Extensions({ creates: true });
}

/**
 * Lets each root mutation be carried out once for an Idempotency-Key, or together with others; otherwise it is resolved
 * as it is.
 */
export function carryOutOnce(schema: GraphQLSchema): void {
  for (const field of Object.values(schema.getMutationType()?.getFields() ?? {})) {
    const { resolve = defaultFieldResolver } = field;
    const isForKeys = field.extensions['scope'] === 'admin';
    const codec = payloadCodec(field.type);
    field.resolve = (source, args: Readonly<Record<string, unknown>>, context: GraphQLContext, info): unknown => {
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
