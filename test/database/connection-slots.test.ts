import { describe, expect, it } from '@jest/globals';

import { RequestContext } from '../../src/domain/access/current-request.ts';
import { Turns, type Turn } from '../../src/database/turns.ts';

let now = 0;
const alone = { hasOthers: () => false };
const amongOthers = { hasOthers: () => true };
const defaults = { capacity: 6, share: 3, waitMillis: 60_000, recent: alone, now: () => now };

/** What still waits when its test ends is refused a minute later. */
const ignoreRefusal = (): void => undefined;

/** Takes turns, and records in which order they are granted. */
class Queue {
  readonly order: string[] = [];
  readonly #turns: Turns;
  readonly #held = new Map<string, Turn>();

  constructor(options: Partial<ConstructorParameters<typeof Turns>[0]> = {}) {
    this.#turns = new Turns({ ...defaults, ...options });
  }

  /** `a1` is the first of the subject `a`, `-1` the first of the service itself; `a1 slow` is slow. */
  async take(...names: string[]): Promise<void> {
    for (const name of names) {
      const subject = name.startsWith('-') ? undefined : name[0];
      this.#turns
        .take(subject === undefined ? undefined : new RequestContext(subject), name.endsWith('slow'))
        .then((turn) => {
          this.order.push(name);
          this.#held.set(name, turn);
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

describe('turns at the exclusive connections', () => {
  it('give one subject no more than its share, even while others are free', async () => {
    const queue = new Queue();
    await queue.take('a1', 'a2', 'a3', 'a4', 'b1');
    expect(queue.order).toEqual(['a1', 'a2', 'a3', 'b1']);
    await queue.release('a2');
    expect(queue.order.at(-1)).toBe('a4');
  });

  it('are granted to the subject that has used connections for the least time', async () => {
    const queue = new Queue({ capacity: 1, share: 1 });
    await queue.take('a1', 'a2', 'a3', 'b1', 'b2', 'b3');
    await queue.release('a1', 100);
    await queue.release('b1', 40);
    await queue.release('b2', 40);
    await queue.release('b3', 40);
    expect(queue.order).toEqual(['a1', 'b1', 'b2', 'b3', 'a2']);
  });

  it('give no advantage to a subject that returns after a pause', async () => {
    const queue = new Queue({ capacity: 1, share: 1 });
    await queue.take('a1');
    for (let turn = 2; turn < 5; turn += 1) {
      await queue.take(`a${turn}`);
      await queue.release(`a${turn - 1}`, 100);
    }
    await queue.take('b1', 'b2', 'a5');
    await queue.release('a4', 10);
    await queue.release('b1', 200);
    expect(queue.order.slice(-3)).toEqual(['a4', 'b1', 'a5']);
  });

  it('remember what a subject has used that returns at once', async () => {
    const queue = new Queue({ capacity: 1, share: 1 });
    await queue.take('a1', 'b1', 'b2');
    await queue.release('a1', 100);
    await queue.take('a2');
    await queue.release('b1', 50);
    expect(queue.order).toEqual(['a1', 'b1', 'b2']);
  });

  it('are granted to as many slow statements of a subject as its share while it is alone', async () => {
    const queue = new Queue();
    await queue.take('a1 slow', 'a2 slow', 'a3 slow', 'a4 slow');
    expect(queue.order).toEqual(['a1 slow', 'a2 slow', 'a3 slow']);
  });

  it('leave connections to others while slow statements of many subjects wait', async () => {
    const queue = new Queue();
    await queue.take('a1 slow', 'b1 slow', 'c1 slow', 'd1 slow', 'a2', 'e1', 'f1');
    expect(queue.order).toEqual(['a1 slow', 'b1 slow', 'c1 slow', 'a2', 'e1', 'f1']);
  });

  it('are granted one by one to the slow statements of a subject while others use the database', async () => {
    const queue = new Queue({ recent: amongOthers });
    await queue.take('a1 slow', 'a2 slow', 'a3', 'b1 slow');
    expect(queue.order).toEqual(['a1 slow', 'a3', 'b1 slow']);
    await queue.release('a1 slow');
    expect(queue.order.at(-1)).toBe('a2 slow');
  });

  it('are refused after a while, and later callers are not delayed by that', async () => {
    let refusals = 0;
    const turns = new Turns({ ...defaults, capacity: 1, share: 1, waitMillis: 10, onRefusal: () => (refusals += 1) });
    const turn = await turns.take(new RequestContext('a'), false);
    await expect(turns.take(new RequestContext('b'), true)).rejects.toMatchObject({ code: 'TURN_REFUSED' });
    expect([refusals, turns.waiting]).toEqual([1, 0]);
    turn.release();
    await turns.take(new RequestContext('b'), false);
  });

  it('are not waited for by a request whose client has disconnected', async () => {
    const turns = new Turns({ ...defaults, capacity: 1, share: 1 });
    const turn = await turns.take(new RequestContext('a'), false);
    const [gone, next] = [new RequestContext('b'), new RequestContext('b')];
    const waiting = turns.take(gone, false);
    const following = turns.take(next, false);
    gone.abort(new Error('gone'));
    await expect(waiting).rejects.toThrow('gone');
    expect(turns.waiting).toBe(1);
    turn.release();
    await following;
  });

  it("are not limited for the service's own work", async () => {
    const queue = new Queue();
    await queue.take('-1', '-2', '-3', '-4', '-5', '-6', '-7');
    expect(queue.order).toHaveLength(6);
  });
});
