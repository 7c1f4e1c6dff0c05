import { expect, it } from '@jest/globals';

import { Accounts } from '../../../src/platform/callers/accounts.ts';
import { Callers } from '../../../src/platform/callers/caller.ts';
import { Share } from '../../../src/platform/callers/share.ts';
import { holdLoop, watchTicks } from '../../support/measurement.ts';
import { until } from '../../support/until.ts';

it('begins work as it comes while nothing waits', () => {
  const callers = new Callers(new Accounts(), 10);
  const { ticks } = callers;
  const begun: string[] = [];
  ticks.enter(callers.for('a'), () => begun.push('first'));
  expect(begun).toEqual(['first']);
  ticks.wait(callers.for('b'), () => begun.push('waiting'));
  ticks.enter(callers.for('a'), () => begun.push('second'));
  expect(begun).toEqual(['first']);
});

it('begins the work of the client first that has used least, however much another one has sent before, and a third one has used elsewhere', async () => {
  const callers = new Callers(new Accounts(), 5);
  const { ticks, accounts } = callers;
  const slots = new Share(accounts, { ofClient: 1, ofAll: 1, refuse: () => new Error('none') });
  const begun: string[] = [];
  const work = (client: string) => (): void => {
    begun.push(client);
    holdLoop(2);
  };
  for (let index = 0; index < 50; index += 1) ticks.wait(callers.for('greedy'), work('greedy'));
  await until(() => begun.length >= 3);
  const before = begun.length;
  const elsewhere = callers.for('elsewhere');
  elsewhere.use(1_000);
  slots.takeNow(elsewhere);
  ticks.wait(callers.for('modest'), work('modest'));
  await until(() => begun.length === 51);
  // One of them may have been chosen already.
  expect(begun.indexOf('modest') - before).toBeLessThanOrEqual(1);
});

it('forgets who has used more than others once nothing waits', async () => {
  const callers = new Callers(new Accounts(), 5);
  const { ticks } = callers;
  const begun: string[] = [];
  const work = (client: string, millis: number): void => {
    ticks.wait(callers.for(client), () => {
      begun.push(client);
      holdLoop(millis);
    });
  };
  work('greedy', 50);
  await until(() => begun.length === 1 && ticks.isFree);
  for (let index = 0; index < 20; index += 1) work('modest', 1);
  work('greedy', 0);
  await until(() => begun.length === 22);
  expect(begun.indexOf('greedy', 1)).toBe(2);
});

it('begins the work of requests as it comes, whatever streams have to write', async () => {
  const callers = new Callers(new Accounts(), 1_000);
  let written = 0;
  for (let index = 0; index < 10; index += 1) {
    callers.streamTicks.wait(callers.for('streams'), () => {
      written += 1;
      expect(callers.ticks.isFree).toBe(true);
      holdLoop(3);
    });
  }
  expect(callers.ticks.isFree).toBe(true);
  await until(() => written === 10);
});

it('goes on in another tick when a tick has no time left, and begins one piece in each at least', async () => {
  const callers = new Callers(new Accounts(), 1);
  const { ticks } = callers;
  const watched = watchTicks();
  let begun = 0;
  for (let index = 0; index < 10; index += 1)
    ticks.wait(callers.for('a'), () => {
      begun += 1;
      holdLoop(3);
    });
  await until(() => begun === 10);
  expect((await watched.stop()).ticks).toBeGreaterThanOrEqual(9);
});

it('begins what goes first before all that waits, for half a millisecond of a tick, and then goes on with the rest', async () => {
  const callers = new Callers(new Accounts(), 5);
  const { ticks } = callers;
  const begun: string[] = [];
  const work = (name: string) => (): void => {
    begun.push(name);
    holdLoop(1);
  };
  for (let index = 0; index < 20; index += 1) ticks.wait(callers.for('client'), work('client'));
  for (let index = 0; index < 4; index += 1) ticks.waitFirst(callers.for('prober'), work('probe'));
  await until(() => begun.length === 24);
  expect(begun[0]).toBe('probe');
  // One fills what a tick has for them, and the next one waits for the next tick.
  expect(begun[1]).toBe('client');
  expect(begun.lastIndexOf('probe')).toBeLessThan(23);
});

it('of what goes first begins that of the address which has used least', async () => {
  const callers = new Callers(new Accounts(), 5);
  const { ticks } = callers;
  const begun: string[] = [];
  const work = (name: string) => (): void => {
    begun.push(name);
    holdLoop(1);
  };
  for (let index = 0; index < 20; index += 1) ticks.waitFirst(callers.for('flood'), work('flood'));
  await until(() => begun.length >= 3);
  const before = begun.length;
  ticks.waitFirst(callers.for('orchestrator'), work('orchestrator'));
  await until(() => begun.length === 21);
  expect(begun.indexOf('orchestrator') - before).toBeLessThanOrEqual(1);
});

it('begins the work of a key beside that of a hundred addresses, which are one client among keys', async () => {
  const callers = new Callers(new Accounts(), 5);
  const { ticks } = callers;
  const begun: string[] = [];
  const wait = (client: string): (() => void) =>
    ticks.wait(callers.for(client), () => {
      begun.push(client);
      holdLoop(2);
    });
  const [leave] = Array.from({ length: 100 }, (_, index) => wait(`address:${index}`));
  for (let index = 0; index < 10; index += 1) wait('key');
  leave!();
  await until(() => begun.length === 109);
  expect(begun.lastIndexOf('key')).toBeLessThan(30);
  // Each of the addresses that still wait has its place.
  expect(new Set(begun).size).toBe(100);
});

it('has a short time in one of eight ticks that accept connections, and none in the others', async () => {
  const { ticks } = new Callers(new Accounts(), 1_000_000);
  const now = performance.now();
  const found: boolean[][] = [];
  for (let tick = 0; tick < 9; tick += 1) {
    ticks.accept();
    found.push([ticks.hasTime(now), ticks.hasTime(now + 0.3)]);
    await new Promise(setImmediate);
  }
  const short = [true, false];
  expect(found).toEqual([short, ...Array.from({ length: 7 }, () => [false, false]), short]);
  expect(ticks.hasTime(now)).toBe(true);
  expect(ticks.hasTime(now + 1_000)).toBe(true);
});
