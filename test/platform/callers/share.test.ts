import { expect, it } from '@jest/globals';
import fc from 'fast-check';

import { Accounts, service } from '../../../src/platform/callers/accounts.ts';
import { Share, type Lease, type ShareOptions } from '../../../src/platform/callers/share.ts';

const refuse: ShareOptions['refuse'] = (refusal, held) => new Error(`${refusal} ${held}`);

function share(options: Partial<ShareOptions>, accounts = new Accounts()): Share {
  return new Share(accounts, { ofClient: 2, ofAll: 3, waitMillis: 60_000, refuse, ...options });
}

it('refuses what goes beyond the part of a client, or beyond everything', () => {
  const slots = share({});
  slots.takeNow('a', 2);
  expect(() => slots.takeNow('a')).toThrow('client 2');
  const lease = slots.takeNow('b');
  expect(() => slots.takeNow('b')).toThrow('all 1');
  lease.release();
  lease.release();
  slots.takeNow('c');
});

it('serves those who wait by what their client has used: the one that has used least first, each client in its order', async () => {
  const accounts = new Accounts();
  const slots = share({ ofClient: 1, ofAll: 1 }, accounts);
  const order: string[] = [];
  let held = slots.takeNow('z');
  const waiting = ['a1', 'a2', 'a3', 'b1', 'c1'].map(async (name) => {
    const lease = await slots.take({ id: name.charAt(0) });
    order.push(name);
    held = lease;
  });
  accounts.use('a', 10);
  for (let served = 0; served < waiting.length; served += 1) {
    const releasing = held;
    releasing.release();
    await new Promise(setImmediate);
  }
  await Promise.all(waiting);
  expect(order).toEqual(['b1', 'c1', 'a1', 'a2', 'a3']);
});

it('earns nothing by a pause: a client that returns enters at the time of the one served last', async () => {
  const accounts = new Accounts();
  const slots = share({ ofClient: 1, ofAll: 1 }, accounts);
  slots.takeNow('early').release();
  accounts.use('late', 1_000);
  slots.takeNow('late').release();
  const held = slots.takeNow('z');
  const order: string[] = [];
  const waiting = ['early', 'late'].map(async (name) => {
    accounts.use(name, 1);
    (await slots.take({ id: name })).release();
    order.push(name);
  });
  held.release();
  await Promise.all(waiting);
  expect(Math.abs(accounts.entered('early').usedMillis - accounts.entered('late').usedMillis)).toBeLessThan(2);
});

it('refuses after the wait, and forgets who has gone', async () => {
  const slots = share({ ofClient: 1, waitMillis: 5 });
  const held = slots.takeNow('a');
  const gone = new AbortController();
  const aborted = slots.take({ id: 'a', signal: gone.signal });
  gone.abort(new Error('gone'));
  await expect(aborted).rejects.toThrow('gone');
  await expect(slots.take({ id: 'a' })).rejects.toThrow('client 1');
  held.release();
  (await slots.take({ id: 'a' })).release();
  expect([slots.held, slots.holders]).toEqual([0, 0]);
});

it('lets no request pass those of the same client that wait, and takes what is there already however much it is', async () => {
  const slots = share({ ofClient: 1, ofAll: 2 });
  const held = slots.tryTake('a');
  const waiting = slots.take({ id: 'a' });
  expect(slots.tryTake('a')).toBeUndefined();
  held?.release();
  expect(slots.tryTake('a')).toBeUndefined();
  (await waiting).release();
  expect(slots.findRefusal('a', 1)).toBeUndefined();
  const beyond = slots.hold('a', 3);
  expect(slots.findRefusal('a')).toEqual(new Error('client 3'));
  expect(slots.findRefusal('b')).toEqual(new Error('all 0'));
  beyond.resize(1);
  expect([slots.findRefusal('a'), slots.findRefusal('b')]).toEqual([undefined, undefined]);
});

it('knows for a second who else has used something, which what the service itself does is not', () => {
  const accounts = new Accounts();
  accounts.use('a', 1, 1_000);
  accounts.use(service, 1, 1_500);
  expect([accounts.hasOthers('a', 1_500), accounts.hasOthers('b', 1_999)]).toEqual([false, true]);
  accounts.use('b', 1, 1_600);
  accounts.use('b', 1, 1_700);
  expect([accounts.hasOthers('a', 2_600), accounts.hasOthers('b', 1_999)]).toEqual([true, true]);
  expect([accounts.hasOthers('a', 2_700), accounts.hasOthers('b', 2_000)]).toEqual([false, false]);
});

it('counts what a lease was used for, once', () => {
  const accounts = new Accounts();
  const lease = share({}, accounts).takeNow('a');
  lease.release(7);
  lease.release(7);
  expect(accounts.entered('a').usedMillis).toBe(7);
});

it('remembers some ten thousand clients that hold nothing, and all that hold something', () => {
  const accounts = new Accounts();
  const slots = share({ ofAll: Infinity }, accounts);
  const leases = Array.from({ length: 50 }, (_, index) => slots.takeNow(`holder ${index}`));
  for (let index = 0; index < 100_000; index += 1) slots.takeNow(`passer-by ${index}`).release();
  expect(accounts.size).toBeLessThan(21_000);
  expect(leases.map((_, index) => slots.heldBy(`holder ${index}`))).toEqual(leases.map(() => 1));
});

it('keeps its sums, and its limits, whatever is taken, resized and released', () => {
  const command = fc.record({
    client: fc.constantFrom('a', 'b', 'c'),
    amount: fc.integer({ min: 1, max: 3 }),
    kind: fc.constantFrom('take', 'release', 'shrink'),
    which: fc.nat(20),
  });
  fc.assert(
    fc.property(fc.array(command, { maxLength: 60 }), (commands) => {
      const slots = share({ ofClient: 4, ofAll: 7 });
      const leases: { lease: Lease; client: string; amount: number }[] = [];
      for (const { client, amount, kind, which } of commands) {
        const chosen = leases[which % Math.max(leases.length, 1)];
        if (kind === 'take') {
          try {
            leases.push({ lease: slots.takeNow(client, amount), client, amount });
          } catch {}
        } else if (chosen !== undefined && kind === 'release') {
          chosen.lease.release();
          leases.splice(leases.indexOf(chosen), 1);
        } else if (chosen !== undefined) {
          chosen.lease.resize(0);
          chosen.amount = 0;
        }
        const sum = (of?: string): number =>
          leases.filter((each) => of === undefined || each.client === of).reduce((all, each) => all + each.amount, 0);
        const clients = ['a', 'b', 'c'];
        expect(slots.held).toBe(sum());
        expect(clients.map((each) => slots.heldBy(each))).toEqual(clients.map((each) => sum(each)));
        expect(slots.holders).toBe(clients.filter((each) => sum(each) > 0).length);
        expect(slots.held).toBeLessThanOrEqual(7);
        for (const each of clients) expect(sum(each)).toBeLessThanOrEqual(4);
      }
    }),
  );
});
