import { expect, it } from '@jest/globals';
import fc from 'fast-check';

import { requestBytes, RequestMemory } from '../../../src/platform/callers/memory.ts';
import { Share, type ShareOptions } from '../../../src/platform/callers/share.ts';
import { callers } from '../../support/caller.ts';

function memoryOf(options: Partial<ShareOptions> = {}): Share {
  const refuse: ShareOptions['refuse'] = (refusal) => new Error(refusal);
  return new Share(callers.accounts, { ofClient: 30, ofAll: 50, waitMillis: 60_000, refuse, ...options });
}

/** A request that holds so much. */
function holding(memory: Share, clientId: string, bytes: number): RequestMemory {
  const request = new RequestMemory(memory, callers.for(clientId));
  expect(request.tryHold(bytes)).toBeUndefined();
  return request;
}

/** Reserves so much for a new request, and records when it is granted. */
function reserve(memory: Share, name: string, bytes: number, order: string[]): RequestMemory {
  const request = new RequestMemory(memory, callers.for(name.charAt(0)));
  void Promise.resolve(request.reserve(bytes)).then(() => order.push(name));
  return request;
}

const settled = (): Promise<void> => new Promise(setImmediate);

it('says whether a client or all together have too much, and counts only what is granted', () => {
  const memory = memoryOf();
  holding(memory, 'a', 20);
  const request = new RequestMemory(memory, callers.for('a'));
  expect([request.tryHold(11), request.tryHold(10), request.tryHold(11), request.bytes]).toEqual([
    'client',
    undefined,
    'client',
    10,
  ]);
  const other = new RequestMemory(memory, callers.for('b'));
  expect([other.tryHold(21), other.bytes, other.tryHold(20)]).toEqual(['all', 0, undefined]);
});

it('is waited for by what comes beside what a request holds, in the order of its client', async () => {
  const memory = memoryOf();
  const order: string[] = [];
  const first = reserve(memory, 'a1', 30, order);
  const second = reserve(memory, 'a2', 20, order);
  reserve(memory, 'a3', 1, order);
  reserve(memory, 'b1', 20, order);
  await settled();
  expect(order).toEqual(['a1', 'b1']);
  first.hold(9);
  await settled();
  expect(order).toEqual(['a1', 'b1', 'a2', 'a3']);
  expect(second.bytes).toBe(20);
});

it('is there for one request of any size, when its client or nobody holds anything else', async () => {
  const memory = memoryOf({ ofAll: 40 });
  const order: string[] = [];
  const first = holding(memory, 'a', 10);
  const more = first.reserve(1_000);
  expect([more, first.bytes]).toEqual([undefined, 30]);
  const second = reserve(memory, 'b1', 1_000, order);
  await settled();
  expect([order, second.bytes]).toEqual([[], 0]);
  first.release();
  await settled();
  expect([order, second.bytes]).toEqual([['b1'], 30]);
});

it('takes what is held already however much that is, and says so until it is less', () => {
  const memory = memoryOf();
  const request = holding(memory, 'a', 30);
  request.hold(51);
  expect([memory.isOverdrawn, new RequestMemory(memory, callers.for('b')).tryHold(1)]).toEqual([true, 'all']);
  request.hold(50);
  expect(memory.isOverdrawn).toBe(false);
});

it('keeps what a stream keeps beside what it holds, until it ends', () => {
  const memory = memoryOf();
  const stream = holding(memory, 'a', 20);
  stream.keep(15);
  expect(stream.bytes).toBe(20);
  stream.hold(1);
  expect([stream.bytes, memory.held]).toEqual([16, 16]);
  expect([stream.tryKeep(30), stream.bytes, stream.tryKeep(29), stream.bytes]).toEqual([false, 16, true, 30]);
  stream.release();
  expect(memory.held).toBe(0);
});

it('ends with its request: what is granted or found later holds nothing', async () => {
  const memory = memoryOf();
  const held = holding(memory, 'a', 30);
  const order: string[] = [];
  const gone = reserve(memory, 'a1', 30, order);
  gone.release();
  held.release();
  held.release();
  await settled();
  gone.hold(30);
  expect([order, memory.held]).toEqual([['a1'], 0]);
});

it('is not waited for by a request that is aborted, nor for ever', async () => {
  const memory = memoryOf({ waitMillis: 10 });
  holding(memory, 'a', 30);
  const caller = callers.for('a');
  const waiting = new RequestMemory(memory, caller).reserve(30);
  caller.abort(new Error('gone'));
  await expect(waiting).rejects.toThrow('gone');
  await expect(new RequestMemory(memory, callers.for('a')).reserve(1)).rejects.toThrow('client');
});

it('holds all that a value has, whatever that is', () => {
  const memory = memoryOf({ ofClient: Infinity, ofAll: Infinity });
  const request = new RequestMemory(memory, callers.for('a'));
  const bytesOf = (value: unknown, more = 0): number => {
    request.holdParsed(value, more);
    return request.bytes - requestBytes;
  };
  expect(bytesOf('x'.repeat(1_000))).toBeGreaterThanOrEqual(1_000);
  expect(bytesOf('€'.repeat(1_000))).toBeGreaterThanOrEqual(2_000);
  // V8 gives an empty object room for four members.
  expect(bytesOf(Array.from({ length: 1_000 }, () => ({})))).toBeGreaterThanOrEqual(64_000);
  expect(bytesOf({ a: [null, 'b', { c: 1 }] }, 5)).toBe(bytesOf({ a: [null, 'b', { c: 1 }] }) + 5);
});

it('counts exactly what its requests hold, whatever they do in whichever order', async () => {
  const step = fc.record({
    request: fc.nat({ max: 5 }),
    kind: fc.constantFrom('hold', 'tryHold', 'reserve', 'keep', 'tryKeep', 'release'),
    bytes: fc.nat({ max: 40 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const memory = memoryOf();
      const requests = Array.from(
        { length: 6 },
        (_, index) => new RequestMemory(memory, callers.for(String(index % 3))),
      );
      const released = new Set<number>();
      for (const { request: index, kind, bytes } of steps) {
        const request = requests[index]!;
        const before = memory.held;
        if (kind === 'release') {
          request.release();
          released.add(index);
        } else if (kind === 'reserve') {
          Promise.resolve(request.reserve(bytes)).catch(() => undefined);
        } else {
          request[kind](bytes);
        }
        // What is granted to those that wait.
        await settled();
        const held = requests.reduce((sum, each, at) => sum + (released.has(at) ? 0 : each.bytes), 0);
        expect(memory.held).toBe(held);
        if (kind.startsWith('try') || kind === 'reserve') expect(held).toBeLessThanOrEqual(Math.max(before, 50));
      }
    }),
  );
});
