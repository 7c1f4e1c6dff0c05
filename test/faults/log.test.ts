import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { createInterface } from 'node:readline';

import { expect, it } from '@jest/globals';

import { spawnChild } from '../support/child-process.ts';
import { findFreePort } from '../support/free-port.ts';
import { compiled } from '../support/running-command.ts';
import { program } from '../support/service.ts';
import { startCluster } from '../support/started-cluster.ts';
import { until } from '../support/until.ts';

const cluster = await startCluster();

/** The built service; what it writes to stdout is left to the test. */
async function start(
  environment: Readonly<Record<string, string>> = {},
): Promise<{ child: ChildProcess; address: string; exited: Promise<unknown> }> {
  const child = spawnChild(process.execPath, program.split(' '), {
    env: { ...compiled, NODE_ENV: 'production', PORT: '0', DATABASE_URL: cluster.url, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = once(child, 'exit');
  for await (const line of createInterface({ input: child.stderr })) {
    const address = /^The store is open at (\S+),/.exec(line)?.[1];
    if (address !== undefined) return { child, address, exited };
  }
  throw new Error('The service has ended without an address.');
}

const ask = async (address: string): Promise<number> =>
  (await fetch(`${address}/pets`, { headers: { 'x-api-key': 'x' } })).status;

/**
 * Sends what makes far more lines than a pipe holds; resolves with how long the slowest fifty took. A blocking write
 * would never return.
 */
async function fillLog(address: string): Promise<number> {
  const path = `/${'x'.repeat(190)}`;
  let slowest = 0;
  for (let round = 0; round < 8; round += 1) {
    const started = performance.now();
    const responses = await Promise.all(Array.from({ length: 50 }, () => fetch(`${address}${path}`)));
    slowest = Math.max(slowest, performance.now() - started);
    await Promise.all(responses.map((response) => response.text()));
  }
  return slowest;
}

it('continues, responds in time and ends on SIGTERM while its log is not read', async () => {
  const { child, address, exited } = await start();
  child.stdout?.pause();
  expect(await fillLog(address)).toBeLessThan(5_000);
  expect((await fetch(`${address}/healthz`)).status).toBe(200);
  child.kill('SIGTERM');
  expect(await exited).toEqual([0, null]);
});

it('ends at once at a second signal while its log is not read', async () => {
  const { child, address, exited } = await start({ DRAIN_DELAY: '60s' });
  child.stdout?.pause();
  await fillLog(address);
  child.kill('SIGTERM');
  await until(async () => (await fetch(`${address}/readyz`)).status === 503);
  child.kill('SIGTERM');
  expect(await exited).toEqual([1, null]);
});

it('starts, continues and ends on SIGTERM while the disk of its log and of its text for people is full', async () => {
  const port = String(await findFreePort());
  const child = spawnChild(process.execPath, program.split(' '), {
    env: { ...compiled, NODE_ENV: 'production', PORT: port, DATABASE_URL: cluster.url },
    stdio: ['ignore', openSync('/dev/full', 'w'), openSync('/dev/full', 'w')],
  });
  const exited = once(child, 'exit');
  const isAnswering = (): Promise<boolean> =>
    ask(`http://127.0.0.1:${port}`).then(
      (status) => status === 401,
      () => false,
    );
  await until(async () => child.exitCode !== null || (await isAnswering()), { maxMillis: 60_000, everyMillis: 100 });
  child.kill('SIGTERM');
  expect(await exited).toEqual([0, null]);
});

it('has a line on stdout within 100 ms or so, and every line when it is stopped, in JSON and nothing else', async () => {
  const { child, address, exited } = await start();
  let output = '';
  child.stdout!.setEncoding('utf8').on('data', (text: string) => (output += text));
  const closed = once(child, 'close');
  const started = performance.now();
  expect(await ask(address)).toBe(401);
  await until(() => output.includes('"status":401'));
  expect(performance.now() - started).toBeLessThan(3_000);
  for (let count = 1; count < 20; count += 1) expect(await ask(address)).toBe(401);
  child.kill('SIGTERM');
  expect(await exited).toEqual([0, null]);
  await closed;
  const lines = output
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(lines.filter(({ status }) => status === 401)).toHaveLength(20);
  expect(lines.at(-1)).toMatchObject({ msg: 'draining' });
});
