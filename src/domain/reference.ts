import { DomainError, quoted, validationFailed, type Violation } from './errors.ts';
import { parseId, type Id } from './id.ts';
import type { InputCheck, Rule } from './input.ts';
import { ForeignKeyViolation } from './store.ts';
import type { Stores } from './stores.ts';

/** The rows that a field such as `categoryId` names. One that doesn't exist is a VALIDATION_FAILED of that field. */
export interface Reference {
  readonly noun: string;
  readonly target: (stores: Stores) => { byIds(ids: readonly Id[]): Promise<readonly unknown[]> };
}

export interface ReferredId {
  readonly field: string;
  readonly reference: Reference;
  readonly id: Id | null | undefined;
}

/** The rule that needs no query. */
export function referenceRule(reference: Reference): Rule<string, Id> {
  return (value, refuse) => {
    const id = parseId(value);
    if (id === undefined) refuse(missing(reference, value));
    return id ?? (value as Id);
  };
}

type ReferredIds = readonly ReferredId[];

/** Looks for missing targets only beside other violations: otherwise the write itself reports them. */
export async function throwIfRefused(check: InputCheck, stores: Stores, referred: ReferredIds): Promise<void> {
  if (!check.hasRefused) return;
  for (const { field, message } of await findMissing(stores, referred)) check.refuse(field, message);
  check.throwIfRefused();
}

/**
 * Writes, and reports a violated foreign key as a missing target, which has no race with other transactions. Of several
 * references PostgreSQL would name one only, so they are looked up before. When the write is refused for another
 * reason, missing targets take precedence.
 */
export async function writeReferring<T>(stores: Stores, referred: ReferredIds, write: () => Promise<T>): Promise<T> {
  const given = referred.filter(({ id }) => typeof id === 'string');
  if (given.length > 1) await throwIfMissing(stores, given);
  try {
    return await write();
  } catch (error) {
    if (error instanceof ForeignKeyViolation) {
      const violated = given.find(({ field }) => field === error.property);
      if (violated !== undefined) throw validationFailed([violationOf(violated)]);
    }
    if (error instanceof DomainError && error.code !== 'UNAVAILABLE') await throwIfMissing(stores, given);
    throw error;
  }
}

async function throwIfMissing(stores: Stores, referred: ReferredIds): Promise<void> {
  const violations = await findMissing(stores, referred);
  if (violations.length > 0) throw validationFailed(violations);
}

/** One after another: reads of a transaction must not overlap. */
async function findMissing(stores: Stores, referred: ReferredIds): Promise<Violation[]> {
  const violations: Violation[] = [];
  for (const each of referred) {
    const id = typeof each.id === 'string' ? parseId(each.id) : undefined;
    if (id === undefined) continue;
    const [row] = await each.reference.target(stores).byIds([id]);
    if (row === undefined) violations.push(violationOf(each));
  }
  return violations;
}

function violationOf({ field, reference, id }: ReferredId): Violation {
  return { field, message: missing(reference, String(id)) };
}

function missing({ noun }: Reference, id: string): string {
  return `there is no ${noun} with the id ${quoted(id)}.`;
}
