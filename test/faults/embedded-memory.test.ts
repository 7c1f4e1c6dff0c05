import { readdirSync, readFileSync } from 'node:fs';

import { expect, it, test } from '@jest/globals';

import { assertEnoughMemory, NotEnoughMemory } from '../../src/platform/embedded/memory.ts';
import { atEnd } from '../support/at-end.ts';
import { limitMemory, type MemoryLimit } from '../support/memory-limit.ts';
import { Service } from '../support/service.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const megabyte = 2 ** 20;

function limitOf(megabytes: number): MemoryLimit {
  const limit = limitMemory(megabytes * megabyte);
  atEnd(() => limit.remove());
  return limit;
}

const roomy = limitOf(768);

/** Not in memory, as databases of other suites: what is written there would count. */
const settings = { DATA_DIR: temporaryDirectory() };

function start(): Promise<Service> {
  return Service.start(settings, { command: roomy.wrap('node dist/src/main.js') });
}

/** The most memory that the process and those that it has started ever had, in MB. */
function peakOf(pid: number): number {
  const statuses = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        return [readFileSync(`/proc/${name}/status`, 'utf8')];
      } catch {
        return [];
      }
    });
  const figure = (status: string, name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1]);
  const peakOfTree = (root: number): number =>
    statuses.reduce((sum, status) => {
      if (figure(status, 'Pid') === root) return sum + figure(status, 'VmHWM') / 1024;
      return figure(status, 'PPid') === root ? sum + peakOfTree(figure(status, 'Pid')) : sum;
    }, 0);
  return peakOfTree(pid);
}

const query = '{ pets(first: 20) { edges { node { name category { name } inventory { quantity } } } } }';

it('takes at most 700 MB in its first start and 400 in later ones, used or not, in a control group of 768 MB', async () => {
  for (const bound of [700, 400]) {
    const service = await start();
    for (let times = 0; times < 200; times += 1) expect((await service.graphql(query)).status).toBe(200);
    const peak = peakOf(service.pid);
    console.log(`at most ${Math.round(peak)} MB of ${bound}`);
    expect(peak).toBeGreaterThan(50);
    expect(peak).toBeLessThan(bound);
    expect(await service.stop()).toBe(0);
  }
});

test('a first start that is killed is made anew by the next one, within the same memory', async () => {
  settings.DATA_DIR = temporaryDirectory();
  const killed = new Service(settings, { command: roomy.wrap('node dist/src/main.js') });
  const isMaking = (): boolean => readdirSync(settings.DATA_DIR).includes('postgres.creating');
  while (!isMaking()) await new Promise((resolve) => setImmediate(resolve));
  await killed.kill();
  const service = await start();
  expect(peakOf(service.pid)).toBeLessThan(700);
  expect(await service.stop()).toBe(0);
});

test('a control group that is too small for certain is named instead of being passed, in the first start and later', async () => {
  expect(() => assertEnoughMemory(true, 400 * megabyte)).toThrow(NotEnoughMemory);
  expect(() => assertEnoughMemory(false, 400 * megabyte)).not.toThrow();
  expect(() => assertEnoughMemory(false, 100 * megabyte)).toThrow(NotEnoughMemory);
  expect(() => assertEnoughMemory(true, 768 * megabyte)).not.toThrow();
  expect(() => assertEnoughMemory(true, undefined)).not.toThrow();
  const small = limitOf(400);
  if (!small.isControlGroup) return;
  const refused = new Service({ DATA_DIR: temporaryDirectory() }, { command: small.wrap('node dist/src/main.js') });
  expect([await refused.ended(), refused.output]).toEqual([
    1,
    "petstore-gateway can't start: The control group has 400 MB of memory, but the embedded database needs at least " +
      '490 MB in its first start: give the container 768 MB, or set DATABASE_URL to a PostgreSQL server.',
  ]);
});
