import {
  ForeignKeyConstraintViolationException,
  type EntityClass,
  type EntityManager,
  type FilterQuery,
} from '@mikro-orm/core';

import { validationFailed, type DomainError } from './errors.ts';
import { parseId, type Id } from './id.ts';
import type { InputCheck, Rule } from './input.ts';
import type { UnitOfWork } from './unit-of-work.ts';

/** A field by which one thing names another, as `categoryId` names a category. Naming none is a VALIDATION_FAILED of that field. */
export class Reference<Target extends object> {
  readonly #field: string;
  readonly #target: EntityClass<Target>;
  readonly #noun: string;

  constructor(field: string, target: EntityClass<Target>, noun: string) {
    this.#field = field;
    this.#target = target;
    this.#noun = noun;
  }

  /** What can be said without asking the database. */
  readonly rule: Rule<string, Id> = (value, refuse) => {
    const id = parseId(value);
    if (id === undefined) refuse(this.#problem(value));
    return id ?? (value as Id);
  };

  /**
   * Throws what the check has refused, and with it a missing target. The database is asked only when there is something to tell
   * anyway: a target that is the only thing missing is found by the work itself.
   */
  async throwIfRefused(check: InputCheck, unitOfWork: UnitOfWork, id: Id | null | undefined): Promise<void> {
    if (!check.hasRefused) return;
    const target = typeof id === 'string' ? parseId(id) : undefined;
    if (target !== undefined && (await unitOfWork((em) => this.#isMissing(em, target)))) {
      check.refuse(this.#field, this.#problem(target));
    }
    check.throwIfRefused();
  }

  /** Asks the database, so that a missing target is told before what else may be wrong. */
  async requireTarget(em: EntityManager, id: Id | null | undefined): Promise<void> {
    if (id === null || id === undefined) return;
    if (await this.#isMissing(em, id)) throw this.#missing(id);
  }

  /** Waits for the work and takes a violated foreign key for the missing target that it is: nobody can come between it and the commit. */
  async guard<T>(id: Id | null | undefined, work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      throw error instanceof ForeignKeyConstraintViolationException ? this.#missing(String(id)) : error;
    }
  }

  async #isMissing(em: EntityManager, id: Id): Promise<boolean> {
    return (await em.count(this.#target, id as FilterQuery<NoInfer<Target>>)) === 0;
  }

  #missing(id: string): DomainError {
    return validationFailed([{ field: this.#field, message: this.#problem(id) }]);
  }

  #problem(id: string): string {
    return `there is no ${this.#noun} with the id ${JSON.stringify(id.slice(0, 60))}.`;
  }
}
