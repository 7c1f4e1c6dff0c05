import { hash } from 'node:crypto';

import { getArgumentValues } from 'graphql';

import { DomainError, validationFailed } from '../../domain/errors.ts';
import type { Stores } from '../../domain/stores.ts';
import type { GraphQLContext } from '../context.ts';
import type { Variables } from '../executor/arguments.ts';
import type { OperationSource, PreparedOperation, RootField } from '../executor/operation.ts';
import type { Execution, RunOptions } from '../executor/run.ts';
import { AtomicWrites } from '../safe-writes/atomic-writes.ts';
import { fingerprintOf } from '../safe-writes/input-fingerprint.ts';
import { requireScopeOfMutation } from '../scopes.ts';
import { causeOf } from './errors.ts';

interface AtomicOperation {
  readonly source: OperationSource;
  readonly prepared: PreparedOperation;
}

interface AtomicOptions {
  readonly limits: { readonly maxResponseBytes: number };
}

export const maxFields = 20;

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
 * Each try has loaders of its own. A field's own failure ends the transaction; one below its payload doesn't. When
 * nothing was committed, no payload is shown. Throws VALIDATION_FAILED for too many fields.
 */
export async function executeAtomically(
  operation: AtomicOperation,
  variables: Variables,
  context: GraphQLContext,
  { limits: { maxResponseBytes: maxBytes } }: AtomicOptions,
): Promise<Execution> {
  const { caller: turns } = context.request;
  const { prepared } = operation;
  const fields = prepared.rootFields(variables);
  if (fields.length > maxFields) {
    const message = `carries out at most ${maxFields} root fields together, not ${fields.length}.`;
    throw validationFailed([{ field: '@atomic', message }]);
  }
  let execution: Execution | undefined;
  const work = async (inside: Stores): Promise<AtomicWrites> => {
    const writes = new AtomicWrites(context.keyed !== undefined);
    execution = await attempt(
      prepared,
      { context: context.inside(inside, writes), variables, maxBytes, turns },
      writes,
    );
    return writes;
  };
  try {
    // Before the key, as everywhere: what has no scope is no replay.
    assertScopes(operation, fields, context);
    if (context.keyed === undefined) {
      await context.stores.atomically(work);
    } else {
      const names = fields.map(({ key }) => key);
      const outcome = await context.keyed.onceForOperation(names, fingerprint(operation, fields, variables), work);
      if (outcome.isReplayed) {
        const replay = new AtomicWrites(false, outcome.result as ReadonlyMap<string, never>);
        execution = await prepared.run({ context: context.replaying(replay), variables, maxBytes, turns });
        context.keyed.replayed.push(...names.filter((name) => replay.isCarriedOut(name)));
      }
    }
  } catch (error) {
    return prepared.failed(variables, (key) => causeFor(key, error));
  }
  return execution as Execution;
}

/** Throws AbortedBy the first field that the key may not use. */
function assertScopes({ source }: AtomicOperation, fields: readonly RootField[], { principal }: GraphQLContext): void {
  const definitions = source.schema.getMutationType()?.getFields() ?? {};
  for (const { key, name } of fields) {
    try {
      requireScopeOfMutation(definitions[name] as (typeof definitions)[string], principal);
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
  if (error.key === key) return error.cause;
  return new DomainError('ABORTED', `Nothing was carried out, because ${error.key} has failed.`);
}

/** The same for the same response names with the same fields and inputs, in the same order. */
function fingerprint({ source }: AtomicOperation, fields: readonly RootField[], variables: Variables): string {
  const all = source.schema.getMutationType()?.getFields() ?? {};
  const parts = fields.map(({ key, name, nodes: [node] }) => {
    const definition = all[name];
    if (definition === undefined || node === undefined) return [key, name];
    try {
      return [key, fingerprintOf(name, definition.args, getArgumentValues(definition, node, variables))];
    } catch {
      // The field will be refused, and nothing is stored.
      return [key, name];
    }
  });
  return hash('sha256', JSON.stringify(parts), 'base64url');
}
