import { DomainError, quoted, validationFailed, type Violation } from './errors.ts';
import { parseId, type Id } from './id.ts';
import type { InputCheck, Rule } from './input.ts';
import { ForeignKeyViolation } from './store.ts';
import type { Stores } from './stores.ts';

interface Target {
  byIds(ids: readonly Id[]): Promise<readonly unknown[]>;
}

/** A field that refers to another row, such as `categoryId`. A missing row is a VALIDATION_FAILED of that field. */
export class Reference {
  readonly #field: string;
  readonly #noun: string;
  readonly #target: (stores: Stores) => Target;

  constructor(field: string, noun: string, target: (stores: Stores) => Target) {
    this.#field = field;
    this.#noun = noun;
    this.#target = target;
  }

  /** The violations that need no query. */
  readonly rule: Rule<string, Id> = (value, refuse) => {
    const id = parseId(value);
    if (id === undefined) refuse(this.#problem(value));
    return id ?? (value as Id);
  };

  /** The violation of a missing target; undefined when it is there. */
  async findMissing(stores: Stores, id: Id): Promise<Violation | undefined> {
    const [target] = await this.#target(stores).byIds([id]);
    return target === undefined ? this.missing(id) : undefined;
  }

  missing(id: string): Violation {
    return { field: this.#field, message: this.#problem(id) };
  }

  /** Whether the foreign key is this one's: PostgreSQL names those of `category_id` `…_category_id_fkey`. */
  isViolated({ constraint }: ForeignKeyViolation): boolean {
    const column = this.#field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    return constraint === undefined || constraint.endsWith(`_${column}_fkey`);
  }

  #problem(id: string): string {
    return `there is no ${this.#noun} with the id ${quoted(id)}.`;
  }
}

/** A reference of a row, with the id that it has or gets. */
export type ReferredId = readonly [reference: Reference, id: Id | null | undefined];
type ReferredIds = readonly ReferredId[];

/**
 * Throws the violations, and those of missing targets. It queries the targets only when there are other violations:
 * otherwise the write itself reports them.
 */
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
  const given = referred.filter(([, id]) => typeof id === 'string');
  if (given.length > 1) await throwIfMissing(stores, given);
  try {
    return await write();
  } catch (error) {
    if (error instanceof ForeignKeyViolation) {
      const [reference, id] = given.find(([each]) => each.isViolated(error)) ?? [];
      if (reference !== undefined) throw validationFailed([reference.missing(String(id))]);
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
  for (const [reference, text] of referred) {
    const id = typeof text === 'string' ? parseId(text) : undefined;
    const violation = id && (await reference.findMissing(stores, id));
    if (violation !== undefined) violations.push(violation);
  }
  return violations;
}
