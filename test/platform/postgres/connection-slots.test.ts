import { describe, expect, it } from '@jest/globals';

import { Accounts } from '../../../src/platform/callers/accounts.ts';
import { ConnectionSlots, type ConnectionSlotsOptions } from '../../../src/platform/postgres/connection-slots.ts';
import { callers, testCaller } from '../../support/caller.ts';

let now = 0;
const defaults = { size: 6, ofClient: 3, waitMillis: 60_000, now: () => now };

function slotsWith(options: Partial<ConnectionSlotsOptions> = {}): ConnectionSlots {
  return new ConnectionSlots({ accounts: new Accounts(), ...defaults, ...options });
}

/** What still waits when its test ends is refused a minute later. */
const ignoreRefusal = (): void => undefined;

/** Takes slots, and records in which order they are granted. */
class Queue {
  readonly order: string[] = [];
  readonly #slots: ConnectionSlots;
  readonly #held = new Map<string, { readonly release: () => void }>();

  constructor(options: Partial<ConnectionSlotsOptions> = {}) {
    this.#slots = slotsWith(options);
  }

  /** `a1` is the first of the client `a`, `-1` the first of the service itself; `a1 slow` is slow. */
  async take(...names: string[]): Promise<void> {
    for (const name of names) {
      const caller = name.startsWith('-') ? testCaller : callers.for(name.charAt(0));
      this.#slots.take(caller, name.endsWith('slow')).then((slot) => {
        this.order.push(name);
        this.#held.set(name, slot);
      }, ignoreRefusal);
    }
    await new Promise(setImmediate);
  }

  async release(name: string, afterMillis = 0): Promise<void> {
    now += afterMillis;
    this.#held.get(name)!.release();
    await new Promise(setImmediate);
  }
}

describe('the exclusive connections', () => {
  it('are given to one client no further than its part, even while others are free', async () => {
    const queue = new Queue();
    await queue.take('a1', 'a2', 'a3', 'a4', 'b1');
    expect(queue.order).toEqual(['a1', 'a2', 'a3', 'b1']);
    await queue.release('a2');
    expect(queue.order.at(-1)).toBe('a4');
  });

  it('are granted to the client that has used them for the least time', async () => {
    const queue = new Queue({ size: 1, ofClient: 1 });
    await queue.take('a1', 'a2', 'a3', 'b1', 'b2', 'b3');
    await queue.release('a1', 100);
    await queue.release('b1', 40);
    await queue.release('b2', 40);
    await queue.release('b3', 40);
    expect(queue.order).toEqual(['a1', 'b1', 'b2', 'b3', 'a2']);
  });

  it('are granted to as many slow statements of a client as its part while it is alone', async () => {
    const queue = new Queue();
    await queue.take('a1 slow', 'a2 slow', 'a3 slow', 'a4 slow');
    expect(queue.order).toEqual(['a1 slow', 'a2 slow', 'a3 slow']);
  });

  it('are left to others while slow statements of many subjects wait', async () => {
    const queue = new Queue();
    await queue.take('a1 slow', 'b1 slow', 'c1 slow', 'd1 slow', 'a2', 'e1', 'f1');
    expect(new Set(queue.order)).toEqual(new Set(['a1 slow', 'b1 slow', 'c1 slow', 'a2', 'e1', 'f1']));
  });

  it('are granted one by one to the slow statements of a client while others use the database', async () => {
    const accounts = new Accounts();
    accounts.use(accounts.of('other'), 1);
    const queue = new Queue({ accounts });
    await queue.take('a1 slow', 'a2 slow', 'a3', 'b1 slow');
    expect(new Set(queue.order)).toEqual(new Set(['a1 slow', 'a3', 'b1 slow']));
    await queue.release('a1 slow');
    expect(queue.order.at(-1)).toBe('a2 slow');
  });

  it('are refused after a while, and later callers are not delayed by that', async () => {
    let refusals = 0;
    const slots = slotsWith({ size: 1, ofClient: 1, waitMillis: 10, onRefusal: () => (refusals += 1) });
    const held = await slots.take(callers.for('a'), false);
    await expect(slots.take(callers.for('b'), true)).rejects.toMatchObject({ code: 'NO_FREE_CONNECTION' });
    expect([refusals, slots.waiting]).toEqual([1, 0]);
    held.release();
    await slots.take(callers.for('b'), false);
  });

  it("are not limited for the service's own work", async () => {
    const queue = new Queue();
    await queue.take('-1', '-2', '-3', '-4', '-5', '-6', '-7');
    expect(queue.order).toHaveLength(6);
  });
});
