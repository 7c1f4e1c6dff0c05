import { expect, it } from '@jest/globals';
import fc from 'fast-check';

import { Accounts, service } from '../../../src/platform/callers/accounts.ts';
import { type Caller, Callers } from '../../../src/platform/callers/caller.ts';
import { Share, type Lease, type ShareOptions } from '../../../src/platform/callers/share.ts';

/** What a test leaves waiting isn't refused while another one runs. */
const longerThanAnyRun = 2 ** 30;

const refuse: ShareOptions['refuse'] = (refusal, held) => new Error(`${refusal} ${held}`);

interface Shared {
  readonly slots: Share;
  readonly accounts: Accounts;
  readonly caller: (clientId: string) => Caller;
}

function share(options: Partial<ShareOptions> = {}): Shared {
  const callers = new Callers();
  const { accounts } = callers;
  const slots = new Share(accounts, { ofClient: 2, ofAll: 3, waitMillis: longerThanAnyRun, refuse, ...options });
  return { slots, accounts, caller: (clientId) => callers.for(clientId) };
}

it('refuses what goes beyond the part of a client, or beyond everything', () => {
  const { slots, caller } = share();
  slots.takeNow(caller('a'), 2);
  expect(() => slots.takeNow(caller('a'))).toThrow('client 2');
  const lease = slots.takeNow(caller('b'));
  expect(() => slots.takeNow(caller('b'))).toThrow('all 1');
  lease.release();
  lease.release();
  slots.takeNow(caller('c'));
});

it('serves those who wait by what their client has used: the one that has used least first, each client in its order', async () => {
  const { slots, caller } = share({ ofClient: 1, ofAll: 1 });
  const order: string[] = [];
  let held = slots.takeNow(caller('z'));
  const waiting = ['a1', 'a2', 'a3', 'b1', 'c1'].map(async (name) => {
    const lease = await slots.take(caller(name.charAt(0)));
    order.push(name);
    held = lease;
  });
  caller('a').use(10);
  for (let served = 0; served < waiting.length; served += 1) {
    const releasing = held;
    releasing.release();
    await new Promise(setImmediate);
  }
  await Promise.all(waiting);
  expect(order).toEqual(['b1', 'c1', 'a1', 'a2', 'a3']);
});

it('earns nothing by a pause: a client that returns enters at the time of the one served last', async () => {
  const { slots, accounts, caller } = share({ ofClient: 1, ofAll: 1 });
  slots.takeNow(caller('early')).release();
  caller('late').use(1_000);
  slots.takeNow(caller('late')).release();
  const held = slots.takeNow(caller('z'));
  const order: string[] = [];
  const waiting = ['early', 'late'].map(async (name) => {
    caller(name).use(1);
    (await slots.take(caller(name))).release();
    order.push(name);
  });
  held.release();
  await Promise.all(waiting);
  expect(Math.abs(accounts.of('early').usedMillis - accounts.of('late').usedMillis)).toBeLessThan(2);
});

it('keeps the place of a client that waits, while others that have used more are served elsewhere', () => {
  const { slots, accounts, caller } = share({ ofClient: 1, ofAll: 1 });
  slots.takeNow(caller('z'));
  void slots.take(caller('a'));
  caller('b').use(1_000);
  new Share(accounts, { ofClient: 1, ofAll: 1, refuse }).takeNow(caller('b'));
  expect([accounts.of('a').usedMillis, accounts.of('c').usedMillis]).toEqual([0, 1_000]);
});

it('refuses after the wait, and forgets who has gone', async () => {
  const { slots, caller } = share({ ofClient: 1, waitMillis: 5 });
  const held = slots.takeNow(caller('a'));
  const gone = caller('a');
  const waiting = slots.take(caller('a'));
  const aborted = slots.take(gone);
  gone.abort(new Error('gone'));
  await expect(aborted).rejects.toThrow('gone');
  expect(slots.waiting).toBe(1);
  await expect(waiting).rejects.toThrow('client 1');
  held.release();
  (await slots.take(caller('a'))).release();
  expect([slots.held, slots.clients]).toEqual([0, 0]);
});

it('lets nobody wait who has disconnected, or has lost the database, before', async () => {
  const { slots, caller } = share({ ofClient: 1 });
  slots.takeNow(caller('a'));
  const [gone, lost] = [caller('a'), caller('a')];
  gone.abort(new Error('gone'));
  lost.fail(new Error('lost'));
  await expect(slots.take(gone)).rejects.toThrow('gone');
  await expect(slots.take(lost)).rejects.toThrow('lost');
  expect(slots.waiting).toBe(0);
});

it('lets no request pass those of the same client that wait, and takes what is there already however much it is', async () => {
  const { slots, caller } = share({ ofClient: 2, ofAll: 2 });
  const held = slots.tryTake(caller('a'));
  const waiting = slots.take(caller('a'), 2);
  expect(slots.tryTake(caller('a'))).toBeUndefined();
  held?.release();
  (await waiting).release();
  expect(slots.findRefusal(caller('a'), 2)).toBeUndefined();
  const beyond = slots.hold(caller('a'), 3);
  expect(slots.findRefusal(caller('a'))).toEqual(new Error('client 3'));
  expect(slots.findRefusal(caller('b'))).toEqual(new Error('all 0'));
  beyond.resize(1);
  expect([slots.findRefusal(caller('a')), slots.findRefusal(caller('b'))]).toEqual([undefined, undefined]);
});

it('knows for a second who else has used something, which what the service itself does is not', () => {
  const accounts = new Accounts();
  accounts.use(accounts.of('a'), 1, 1_000);
  accounts.use(accounts.of(service), 1, 1_500);
  expect([accounts.hasOthers('a', 1_500), accounts.hasOthers('b', 1_999)]).toEqual([false, true]);
  accounts.use(accounts.of('b'), 1, 1_600);
  accounts.use(accounts.of('b'), 1, 1_700);
  expect([accounts.hasOthers('a', 2_600), accounts.hasOthers('b', 1_999)]).toEqual([true, true]);
  expect([accounts.hasOthers('a', 2_700), accounts.hasOthers('b', 2_000)]).toEqual([false, false]);
});

it('counts what a lease was used for, once', () => {
  const { slots, accounts, caller } = share();
  const lease = slots.takeNow(caller('a'));
  lease.release(7);
  lease.release(7);
  expect(accounts.of('a').usedMillis).toBe(7);
});

it('remembers some ten thousand clients that hold nothing, and all that hold something or wait', () => {
  const { slots, accounts, caller } = share({ ofAll: Infinity });
  const leases = Array.from({ length: 50 }, (_, index) => slots.takeNow(caller(`holder ${index}`)));
  const occupied = new Share(accounts, { ofClient: 1, ofAll: 0, refuse, waitMillis: longerThanAnyRun });
  void occupied.take(caller('waiter'));
  const waiter = accounts.of('waiter');
  for (let index = 0; index < 100_000; index += 1) slots.takeNow(caller(`passer-by ${index}`)).release();
  expect(accounts.of('waiter')).toBe(waiter);
  expect(accounts.size).toBeLessThan(21_000);
  expect(leases.map((_, index) => slots.heldBy(caller(`holder ${index}`)))).toEqual(leases.map(() => 1));
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
      const { slots, caller } = share({ ofClient: 4, ofAll: 7 });
      const leases: { lease: Lease; client: string; amount: number }[] = [];
      for (const { client, amount, kind, which } of commands) {
        const chosen = leases[which % Math.max(leases.length, 1)];
        if (kind === 'take') {
          try {
            leases.push({ lease: slots.takeNow(caller(client), amount), client, amount });
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
        expect(clients.map((each) => slots.heldBy(caller(each)))).toEqual(clients.map((each) => sum(each)));
        expect(slots.clients).toBe(clients.filter((each) => sum(each) > 0).length);
        expect(slots.held).toBeLessThanOrEqual(7);
        for (const each of clients) expect(sum(each)).toBeLessThanOrEqual(4);
      }
    }),
  );
});
