import { DomainError, validationFailed } from './errors.ts';
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

  /**
   * Throws the violations, and one for a missing target. It queries the target only when there are other violations:
   * otherwise the write itself reports it.
   */
  async throwIfRefused(check: InputCheck, stores: Stores, id: Id | null | undefined): Promise<void> {
    if (!check.hasRefused) return;
    const target = typeof id === 'string' ? parseId(id) : undefined;
    if (target !== undefined && (await this.#isMissing(stores, target))) {
      check.refuse(this.#field, this.#problem(target));
    }
    check.throwIfRefused();
  }

  /**
   * Writes, and reports a violated foreign key as a missing target, which has no race with other transactions.
   * When the write is refused for another reason, a missing target takes precedence.
   */
  async guard<T>(stores: Stores, id: Id | null | undefined, write: () => Promise<T>): Promise<T> {
    try {
      return await write();
    } catch (error) {
      if (error instanceof ForeignKeyViolation) throw this.#missing(String(id));
      const isRefused = error instanceof DomainError && error.code !== 'UNAVAILABLE';
      if (isRefused && typeof id === 'string' && (await this.#isMissing(stores, id))) throw this.#missing(id);
      throw error;
    }
  }

  async #isMissing(stores: Stores, id: Id): Promise<boolean> {
    const [target] = await this.#target(stores).byIds([id]);
    return target === undefined;
  }

  #missing(id: string): DomainError {
    return validationFailed([{ field: this.#field, message: this.#problem(id) }]);
  }

  #problem(id: string): string {
    return `there is no ${this.#noun} with the id ${JSON.stringify(id.slice(0, 60))}.`;
  }
}
