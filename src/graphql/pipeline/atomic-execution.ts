import { hash } from 'node:crypto';

import { requireScopes } from '../../domain/access/scope.ts';
import { DomainError, isUnavailable, validationFailed } from '../../domain/errors.ts';
import type { StoredResult } from '../../domain/idempotency/idempotency-record.entity.ts';
import { beforeDeletions, lockDeletions, lockNamedRows } from '../../domain/named-rows.ts';
import type { Stores } from '../../domain/stores.ts';
import type { GraphQLContext } from '../context.ts';
import type { Execution, PreparedOperation, RootCall, Variables } from '../../platform/executor/index.ts';
import { AtomicPayloads, AtomicWrites } from '../safe-writes/atomic-writes.ts';
import { fingerprintOf } from '../safe-writes/input-fingerprint.ts';
import { rowsNamedBy } from '../safe-writes/root-mutations.ts';
import type { PayloadCodec } from '../safe-writes/stored-payload.ts';
import { scopesOf } from '../scopes.ts';

interface AtomicOptions {
  readonly limits: { readonly maxResponseBytes: number };
}

export const maxAtomicFields = 20;

/** A root field has failed, so that nothing is committed. Its cause says whether another try may succeed. */
class AbortedBy extends Error {
  readonly key: string;

  constructor(key: string, cause: unknown) {
    super(`${key} has failed.`, { cause });
    this.key = key;
  }
}

/**
 * Carries out the root fields of an operation with `@atomic` in one transaction, or none of them.
 *
 * A payload's rows, with the relations to one row that are selected on them, are those of the transaction. Everything
 * below is read after COMMIT, as below any other mutation, so that no lock waits for it. A field's own failure ends the
 * transaction; when nothing was committed, no payload is shown. Throws VALIDATION_FAILED for too many fields.
 */
export async function executeAtomically(
  prepared: PreparedOperation,
  variables: Variables,
  context: GraphQLContext,
  { limits: { maxResponseBytes: maxBytes } }: AtomicOptions,
): Promise<Execution> {
  const calls = prepared.rootCalls(variables);
  if (calls.length > maxAtomicFields) {
    const message = `carries out at most ${maxAtomicFields} root fields together, not ${calls.length}.`;
    throw validationFailed([{ field: '@atomic', message }]);
  }
  let outcome: CarriedOut;
  try {
    // Before the key, as everywhere: what has no scope is no replay.
    assertScopes(calls, context);
    outcome = await carryOut(calls, context);
  } catch (error) {
    return prepared.failed(variables, (key) => causeFor(key, error));
  }
  const { payloads, isReplayed } = outcome;
  const execution = await prepared.run({ variables, maxBytes, turns: context, context: context.showing(payloads) });
  if (isReplayed) context.keyed?.replayed.push(...payloads.shown);
  return execution;
}

interface CarriedOut {
  readonly payloads: AtomicPayloads;
  readonly isReplayed: boolean;
}

/** Carries the fields out, unless they have been with the same Idempotency-Key. */
async function carryOut(calls: readonly RootCall[], context: GraphQLContext): Promise<CarriedOut> {
  const { stores, keyed } = context;
  const work = workOf(calls, context);
  if (keyed === undefined) return justNow(await stores.transaction(work, 'atomic'));
  const names = calls.map(({ key }) => key);
  const { result, isReplayed } = await keyed.onceForOperation(names, fingerprint(calls), work);
  if (!isReplayed) return justNow(result);
  // A payload that is missing is one that can't be read.
  const read = (name: string, codec: PayloadCodec) => keyed.read(name, codec, result.get(name) as StoredResult);
  return { payloads: new AtomicPayloads(read), isReplayed };
}

function justNow({ payloads }: AtomicWrites): CarriedOut {
  return { payloads: new AtomicPayloads((name) => payloads.get(name) as object), isReplayed: false };
}

/**
 * The work of each try in its transaction: all rows that the inputs name are locked before the first field, those that
 * are to be deleted as for a change. Others may name such a row until its deletion, which may never be reached; the
 * tries after one that has reached it lock it for the deletion at once. Throws AbortedBy the first field that fails.
 */
function workOf(calls: readonly RootCall[], context: GraphQLContext): (inside: Stores) => Promise<AtomicWrites> {
  const fields = calls.map(({ key, definition, args, call }) => ({
    key,
    call,
    rows: args === undefined ? [] : rowsNamedBy(definition, args),
  }));
  const reached = new Set<string>();
  return async (inside) => {
    const writes = new AtomicWrites(context.keyed !== undefined);
    const within = context.inside(inside, writes);
    await lockNamedRows(
      inside,
      fields.flatMap(({ key, rows }) => (reached.has(key) ? rows : beforeDeletions(rows))),
    );
    for (const { key, call, rows } of fields) {
      if (!reached.has(key)) await lockDeletions(inside, rows);
      reached.add(key);
      try {
        await call(within);
      } catch (cause) {
        throw new AbortedBy(key, cause);
      }
    }
    return writes;
  };
}

/** Throws AbortedBy the first field that the key may not use. */
function assertScopes(calls: readonly RootCall[], { principal }: GraphQLContext): void {
  for (const { key, definition } of calls) {
    try {
      requireScopes(principal, scopesOf(definition));
    } catch (cause) {
      throw new AbortedBy(key, cause);
    }
  }
}

function causeFor(key: string, error: unknown): unknown {
  if (!(error instanceof AbortedBy)) return error;
  // A lost database, or a lock that isn't free in time, is no field's own: the locks of all come before the first one.
  if (error.key === key || isUnavailable(error.cause)) return error.cause;
  return new DomainError('ABORTED', `Nothing was carried out, because ${error.key} has failed.`);
}

/** Response names, fields and inputs in order. (Nothing is stored of arguments that are refused.) */
function fingerprint(calls: readonly RootCall[]): string {
  const parts = calls.map(({ key, definition: { name, args: inputs }, args }) =>
    args === undefined ? [key, name] : [key, fingerprintOf(name, inputs, args)],
  );
  return hash('sha256', JSON.stringify(parts), 'base64url');
}
