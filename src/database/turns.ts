/** The wait for a turn timed out. MikroORM wraps errors and keeps their `code`. */
class TurnRefused extends Error {
  override readonly name = 'TurnRefused';
  readonly code = 'TURN_REFUSED';

  constructor() {
    super('No connection was free in time');
  }
}

export interface TurnsOptions {
  /** The maximum number of turns at a time. */
  readonly capacity: number;
  /** The maximum for one subject. */
  readonly perSubject: number;
  readonly waitMillis: number;
  /** Called when a wait has timed out. */
  readonly onRefusal?: (() => void) | undefined;
}

interface Waiter {
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
  readonly timeout: NodeJS.Timeout;
}

/**
 * Schedules the use of a limited number of connections.
 *
 * Model: each subject (a key) has a queue of its own, and the queues take turns; a subject that has its share waits even while a
 * connection is free. Guarantees: no subject waits longer than `waitMillis`; taking a turn costs no more than `capacity` steps, however many wait. The
 * service's own work, which has no subject, has one queue and is limited only by the capacity.
 */
export class Turns {
  readonly #options: TurnsOptions;
  readonly #taken = new Map<string, number>();
  /** In the order of their turns. None of the queues is empty. */
  readonly #queues = new Map<string, Set<Waiter>>();
  #free: number;
  #waiting = 0;

  constructor(options: TurnsOptions) {
    this.#options = options;
    this.#free = options.capacity;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** Takes a turn if one is free without waiting; never overtakes a waiting caller. */
  tryTake(subject: string | undefined): boolean {
    const name = subject ?? '';
    if (this.#free === 0 || !this.#mayTake(name)) return false;
    this.#take(name);
    return true;
  }

  /** Throws TurnRefused. */
  take(subject: string | undefined): Promise<void> {
    if (this.tryTake(subject)) return Promise.resolve();
    const name = subject ?? '';
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        resolve,
        reject,
        timeout: setTimeout(() => this.#refuse(name, waiter), this.#options.waitMillis).unref(),
      };
      let queue = this.#queues.get(name);
      if (queue === undefined) this.#queues.set(name, (queue = new Set()));
      queue.add(waiter);
      this.#waiting += 1;
    });
  }

  /** Passes the turn of a subject to the next waiting caller. */
  give(subject: string | undefined): void {
    const name = subject ?? '';
    const taken = (this.#taken.get(name) ?? 0) - 1;
    if (taken > 0) this.#taken.set(name, taken);
    else this.#taken.delete(name);
    this.#free += 1;
    // Only subjects with their full share are skipped, of which there are at most as many as turns.
    for (const [next, queue] of this.#queues) {
      if (!this.#mayTake(next)) continue;
      const [waiter] = queue;
      if (waiter === undefined) continue;
      this.#remove(next, queue, waiter);
      // To the end: the others come first.
      if (this.#queues.delete(next)) this.#queues.set(next, queue);
      this.#take(next);
      waiter.resolve();
      return;
    }
  }

  /** Refuses all waiting callers. */
  refuseAll(error: Error): void {
    for (const [name, queue] of this.#queues) {
      for (const waiter of queue) {
        this.#remove(name, queue, waiter);
        waiter.reject(error);
      }
    }
  }

  #mayTake(name: string): boolean {
    return name === '' || (this.#taken.get(name) ?? 0) < this.#options.perSubject;
  }

  #take(name: string): void {
    this.#free -= 1;
    this.#taken.set(name, (this.#taken.get(name) ?? 0) + 1);
  }

  #refuse(name: string, waiter: Waiter): void {
    const queue = this.#queues.get(name);
    if (queue?.has(waiter) !== true) return;
    this.#remove(name, queue, waiter);
    this.#options.onRefusal?.();
    waiter.reject(new TurnRefused());
  }

  #remove(name: string, queue: Set<Waiter>, waiter: Waiter): void {
    clearTimeout(waiter.timeout);
    queue.delete(waiter);
    if (queue.size === 0) this.#queues.delete(name);
    this.#waiting -= 1;
  }
}
