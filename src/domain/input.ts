import { validationFailed, type Violation } from './errors.ts';

/** A rule for one field: returns the value as it is stored, and reports what is wrong with it by `refuse`. */
export type Rule<Raw, Stored> = (value: Raw, refuse: (problem: string) => void) => Stored;

/** The result for a refused value must not be used: call `throwIfRefused` before. */
export class InputCheck {
  readonly #violations: Violation[] = [];

  refuse(field: string, problem: string): void {
    this.#violations.push({ field, message: problem });
  }

  get hasRefused(): boolean {
    return this.#violations.length > 0;
  }

  /** Throws VALIDATION_FAILED when something was refused. */
  throwIfRefused(): void {
    if (this.#violations.length > 0) throw validationFailed(this.#violations);
  }

  required<Raw, Stored>(field: string, value: Raw, rule: Rule<Raw, Stored>): Stored {
    return rule(value, (problem) => this.refuse(field, problem));
  }

  /** For creating and filtering: null is the same as leaving it out. */
  optional<Raw, Stored>(field: string, value: Raw | null | undefined, rule: Rule<Raw, Stored>): Stored | undefined {
    return value === null || value === undefined ? undefined : this.required(field, value, rule);
  }
}
