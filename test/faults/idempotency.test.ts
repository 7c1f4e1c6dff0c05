import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, it } from '@jest/globals';

import { key, Service } from './service.ts';

let dataDir: string;

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'petstore-faults-'));
});

afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

const total = 60;
const authorization = { authorization: `Bearer ${key}` };

/** Asks for a category under a key of its own; the same for the same number. */
function create({ address }: Service, n: number): Promise<Response> {
  return fetch(`${address}/categories`, {
    method: 'POST',
    headers: { ...authorization, 'content-type': 'application/json', 'idempotency-key': `key ${n}` },
    body: JSON.stringify({ name: `written ${n}` }),
  });
}

it('does the work of a key once, though kill -9 comes in the midst of it and everything is sent again', async () => {
  const first = await Service.start({ DATA_DIR: dataDir, DEMO: 'off' });
  const acknowledged = new Map<number, string>();
  await Promise.allSettled(
    Array.from({ length: total }, async (_, n) => {
      const response = await create(first, n);
      acknowledged.set(n, await response.text());
      if (acknowledged.size === total / 3) first.signal('SIGKILL');
    }),
  );
  await first.ended();
  expect(acknowledged.size).toBeLessThan(total);

  const second = await Service.start({ DATA_DIR: dataDir, DEMO: 'off' });
  for (let n = 0; n < total; n += 1) {
    const response = await create(second, n);
    const text = await response.text();
    expect([n, response.status, text]).toEqual([n, 201, acknowledged.get(n) ?? text]);
  }
  const categories = (await (await fetch(`${second.address}/categories`, { headers: authorization })).json()) as {
    name: string;
  }[];
  const names = categories.map(({ name }) => name).toSorted();
  expect(names).toEqual(Array.from({ length: total }, (_, n) => `written ${n}`).toSorted());
  await second.stop();
});
