import { describe, expect, it } from '@jest/globals';

import { Turns } from '../../src/database/turns.ts';

const patient = { capacity: 4, perSubject: 2, waitMillis: 60_000 };

describe('turns at the exclusive connections', () => {
  it('give one subject no more than its share, even while others are free', () => {
    const turns = new Turns(patient);
    expect(['a', 'a', 'a', 'b'].map((subject) => turns.tryTake(subject))).toEqual([true, true, false, true]);
  });

  it('go round: a subject with one waiter comes before the second of another', async () => {
    const turns = new Turns({ ...patient, capacity: 1, perSubject: 1 });
    const order: string[] = [];
    turns.tryTake('first');
    const waiting = ['a1', 'a2', 'a3', 'b1'].map(async (name) => {
      await turns.take(name[0]);
      order.push(name);
    });
    for (const holder of ['first', 'a', 'b', 'a']) {
      turns.give(holder);
      await new Promise(setImmediate);
    }
    await Promise.all(waiting);
    expect(order).toEqual(['a1', 'b1', 'a2', 'a3']);
  });

  it('are refused after a while, and whoever comes later is not held up by that', async () => {
    let refusals = 0;
    const turns = new Turns({ capacity: 1, perSubject: 1, waitMillis: 10, onRefusal: () => (refusals += 1) });
    await turns.take('a');
    await expect(turns.take('b')).rejects.toMatchObject({ code: 'TURN_REFUSED' });
    expect([refusals, turns.waiting]).toEqual([1, 0]);
    turns.give('a');
    expect(turns.tryTake('b')).toBe(true);
  });

  it("are not limited for the service's own work", () => {
    const turns = new Turns(patient);
    expect(Array.from({ length: 5 }, () => turns.tryTake(undefined))).toEqual([true, true, true, true, false]);
  });
});
