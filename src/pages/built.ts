import { existsSync } from 'node:fs';

import { HttpError } from '../http/error-table.ts';
import { pendingPages } from './pending-pages.ts';

/** Browsers ask again by themselves. */
const again = { retryAfterSeconds: 3, headers: { refresh: '3' } };

/** What is made of files of the build: once they are there, which may be after the start. */
export class Built<Value> {
  readonly #file: string;
  readonly #make: () => Value;
  #value: Value | undefined;

  constructor(file: string, make: () => Value) {
    this.#file = file;
    this.#make = make;
  }

  /** Undefined until it is built. */
  find(): Value | undefined {
    if (this.#value === undefined && !existsSync(pendingPages) && existsSync(this.#file)) this.#value = this.#make();
    return this.#value;
  }

  /** Throws a refusal that says what to do, or to wait. */
  get(what: string): Value {
    const value = this.find();
    if (value !== undefined) return value;
    if (existsSync(pendingPages))
      throw new HttpError('UNAVAILABLE', `${what}: being built, which takes a moment.`, again);
    throw new HttpError('NOT_FOUND', `${what}: not built. \`npm run build\` builds it.`);
  }
}
