import type { Span } from '@opentelemetry/api';

import { Accounts, service } from './accounts.ts';
import { TickTime } from './tick-time.ts';

/** Requests end within this time, whatever they wait for. */
const countedMillis = 5_000;

/** How long streams write in one tick of the event loop. */
const streamTickMillis = 2;

/**
 * For whom something is done: a request, a stream, or work of the service's own. It is made where that begins, and
 * handed down to whatever holds, waits, or sends a statement.
 */
export class Caller {
  /** Its client: the id of its key; that of the service's own work is `service`. */
  readonly id: string;
  /** Which work of the service's own it is. */
  readonly work: string | undefined;
  readonly requestId: string | undefined;
  /** The span of its request in OpenTelemetry, while it is traced. */
  span: Span | undefined;
  readonly #callers: Callers;
  #failure: Error | undefined;
  #hasWritten = false;
  #controller: AbortController | undefined;
  /** For how many things it waits now, and since when for any. */
  #waits = 0;
  #waitingSince = 0;
  #waitedMillis = 0;
  #countedSince = 0;

  constructor(callers: Callers, id: string, { work, requestId }: Pick<Partial<Caller>, 'work' | 'requestId'> = {}) {
    this.#callers = callers;
    this.id = id;
    this.work = work;
    this.requestId = requestId;
  }

  /** Why it needn't send further statements: it has lost the database, or its client has disconnected. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  /** Aborted by `abort`, for what waits. Made on first use: most requests never wait. */
  get signal(): AbortSignal {
    return (this.#controller ??= new AbortController()).signal;
  }

  /** From now on it is carried out whole, whether or not its client is still there. */
  recordWrite(): void {
    this.#hasWritten = true;
  }

  /** The client has disconnected: what is waited for is not begun, unless the caller has begun to write. */
  abort(reason: Error): void {
    if (this.#hasWritten) return;
    this.fail(reason);
    this.#controller?.abort(reason);
  }

  /**
   * Everything that it does next fails in the same way, at once. The first failure stays; the service's own work has
   * none.
   */
  fail(failure: Error): void {
    if (this.work === undefined) this.#failure ??= failure;
  }

  /**
   * For how long it has waited, for one thing after another: there is one deadline for all of them. Who goes on for
   * longer than any request waits has made progress (a walk, a stream), and its waits are counted anew. Waits of the
   * service's own work aren't counted.
   */
  get waitedMillis(): number {
    const now = performance.now();
    const isWaiting = this.#waits > 0;
    if (!isWaiting && now - this.#countedSince > countedMillis) this.#waitedMillis = 0;
    return this.#waitedMillis + (isWaiting ? now - this.#waitingSince : 0);
  }

  /** The caller waits until `endWait`. Waits at the same time count once. */
  beginWait(): void {
    if (this.work !== undefined) return;
    if (this.#waits === 0) {
      const now = performance.now();
      if (this.waitedMillis === 0) this.#countedSince = now;
      this.#waitingSince = now;
    }
    this.#waits += 1;
  }

  endWait(): void {
    if (this.work !== undefined) return;
    this.#waits -= 1;
    if (this.#waits === 0) this.#waitedMillis += performance.now() - this.#waitingSince;
  }

  /** Adds to what its client has used: milliseconds of the processor, or of the database. */
  use(millis: number): void {
    const { accounts } = this.#callers;
    accounts.use(accounts.of(this.id), millis);
  }

  /** Resolves now or in a later tick, when its client's work may begin. */
  enterTick(): Promise<void> {
    return new Promise((resolve) => this.#callers.ticks.enter(this, resolve));
  }

  /**
   * Resolves in a later tick, when its client's work may go on; undefined while this one has time left. Rejects at once
   * when it is aborted.
   */
  turn(): Promise<void> | undefined {
    const { ticks } = this.#callers;
    if (ticks.hasTime(performance.now())) return undefined;
    const { signal } = this;
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason as Error);
      const abort = (): void => {
        leave();
        reject(signal.reason as Error);
      };
      const leave = ticks.wait(this, () => {
        signal.removeEventListener('abort', abort);
        resolve();
      });
      signal.addEventListener('abort', abort);
    });
  }

  /**
   * Another caller of the same client, which has waited as long: the failure of this one, or the end of its request,
   * doesn't end it.
   */
  apart(): Caller {
    const other = new Caller(this.#callers, this.id, this);
    other.#waitedMillis = this.waitedMillis;
    other.#countedSince = this.#countedSince;
    return other;
  }
}

/** Makes the callers of a process, who share its accounts and its time. */
export class Callers {
  readonly accounts: Accounts;
  /** The work of requests. */
  readonly ticks: TickTime;
  /** The writing of streams: no request waits for its turn behind it. */
  readonly streamTicks: TickTime;

  constructor(accounts = new Accounts(), tickMillis?: number) {
    this.accounts = accounts;
    this.ticks = new TickTime(accounts, tickMillis);
    this.streamTicks = new TickTime(accounts, streamTickMillis);
  }

  /** A request or a stream of a client. */
  for(clientId: string, requestId?: string): Caller {
    return new Caller(this, clientId, { requestId });
  }

  /** Work of the service's own, which several requests may share: nothing ends it. */
  service(work: string): Caller {
    return new Caller(this, service, { work });
  }
}

/** The caller waits until the result is there. */
export function waiting<Result>(caller: Caller | undefined, result: Promise<Result>): Promise<Result> {
  caller?.beginWait();
  return result.finally(() => caller?.endWait());
}
