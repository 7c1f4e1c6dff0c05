import {
  ForeignKeyConstraintViolationException,
  type EntityClass,
  type EntityManager,
  type FilterQuery,
} from '@mikro-orm/core';

import { validationFailed, type DomainError } from './errors.ts';
import { parseId, type Id } from './id.ts';
import type { Rule } from './input.ts';

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

  /** Asks the database, so that a missing target is told before what else may be wrong. */
  async requireTarget(em: EntityManager, id: Id | null | undefined): Promise<void> {
    if (id === null || id === undefined) return;
    if ((await em.count(this.#target, id as FilterQuery<NoInfer<Target>>)) === 0) throw this.#missing(id);
  }

  /** Waits for the work and takes a violated foreign key for the missing target that it is: nobody can come between it and the commit. */
  async guard<T>(id: Id | null | undefined, work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      throw error instanceof ForeignKeyConstraintViolationException ? this.#missing(String(id)) : error;
    }
  }

  #missing(id: string): DomainError {
    return validationFailed([{ field: this.#field, message: this.#problem(id) }]);
  }

  #problem(id: string): string {
    return `there is no ${this.#noun} with the id ${JSON.stringify(id.slice(0, 60))}.`;
  }
}
