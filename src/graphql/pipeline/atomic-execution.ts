import { hash } from 'node:crypto';

import { DomainError, isUnavailable, validationFailed } from '../../domain/errors.ts';
import type { StoredResult } from '../../domain/idempotency/idempotency-record.entity.ts';
import { lockNamedRows } from '../../domain/named-rows.ts';
import type { Stores } from '../../domain/stores.ts';
import type { GraphQLContext } from '../context.ts';
import type { Execution, PreparedOperation, RootCall, RunOptions, Variables } from '../../platform/executor/index.ts';
import { AtomicWrites } from '../safe-writes/atomic-writes.ts';
import { fingerprintOf } from '../safe-writes/input-fingerprint.ts';
import { rowsNamedBy } from '../safe-writes/root-mutations.ts';
import { requireScopeOfMutation } from '../scopes.ts';
import { causeOf } from './errors.ts';

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
 * Carries out the root fields of an operation with `@atomic` in one transaction, payloads included, or none of them.
 *
 * All rows that the inputs name are locked before the first field. Each try has loaders of its own. A field's own
 * failure ends the transaction; one below its payload doesn't. When nothing was committed, no payload is shown. Throws
 * VALIDATION_FAILED for too many fields.
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
  const { keyed } = context;
  const options = { variables, maxBytes, turns: context };
  const named = calls.flatMap(({ definition, args }) => (args === undefined ? [] : rowsNamedBy(definition, args)));
  const work = async (inside: Stores) => {
    await lockNamedRows(inside, named);
    const writes = new AtomicWrites(keyed !== undefined);
    const execution = await attempt(prepared, { ...options, context: context.inside(inside, writes) }, writes);
    return { execution, payloads: writes.payloads };
  };
  try {
    // Before the key, as everywhere: what has no scope is no replay.
    assertScopes(calls, context);
    if (keyed === undefined) return (await context.stores.transaction(work, 'atomic')).execution;
    const names = calls.map(({ key }) => key);
    const { result, isReplayed } = await keyed.onceForOperation(names, fingerprint(calls), work);
    if (!isReplayed) return result.execution;
    // A payload that is missing is one that can't be read.
    const replay = new AtomicWrites(false, (name, codec) => keyed.read(name, codec, result.get(name) as StoredResult));
    const execution = await prepared.run({ ...options, context: context.replaying(replay) });
    keyed.replayed.push(...names.filter((name) => replay.isCarriedOut(name)));
    return execution;
  } catch (error) {
    return prepared.failed(variables, (key) => causeFor(key, error));
  }
}

/** Throws AbortedBy the first field that the key may not use. */
function assertScopes(calls: readonly RootCall[], { principal }: GraphQLContext): void {
  for (const { key, definition } of calls) {
    try {
      requireScopeOfMutation(definition, principal);
    } catch (cause) {
      throw new AbortedBy(key, cause);
    }
  }
}

/** Runs all fields; throws AbortedBy at the first one that fails. */
async function attempt(prepared: PreparedOperation, options: RunOptions, writes: AtomicWrites): Promise<Execution> {
  let failed: string | undefined;
  const mayGoOn = (key: string): boolean => {
    if (!writes.isCarriedOut(key)) failed = key;
    return failed === undefined;
  };
  const execution = await prepared.run({ ...options, mayGoOn });
  if (failed === undefined) return execution;
  // Arguments are refused before the resolver is called.
  const refusal = execution.errors.find(({ path }) => path?.length === 1 && path[0] === failed);
  throw new AbortedBy(failed, writes.failureOf(failed) ?? (refusal === undefined ? undefined : causeOf(refusal)));
}

function causeFor(key: string, error: unknown): unknown {
  if (!(error instanceof AbortedBy)) return error;
  // A lost database, or a lock that isn't free in time, is no field's own: the locks of all come before the first one.
  if (error.key === key || isUnavailable(error.cause)) return error.cause;
  return new DomainError('ABORTED', `Nothing was carried out, because ${error.key} has failed.`);
}

/**
 * The same for the same response names with the same fields and inputs, in the same order. (Nothing is stored of
 * arguments that are refused.)
 */
function fingerprint(calls: readonly RootCall[]): string {
  const parts = calls.map(({ key, definition: { name, args: inputs }, args }) =>
    args === undefined ? [key, name] : [key, fingerprintOf(name, inputs, args)],
  );
  return hash('sha256', JSON.stringify(parts), 'base64url');
}
