import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { expect, it } from '@jest/globals';

import { startCluster } from '../support/started-cluster.ts';
import { Service } from '../support/service.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { startTestApp } from '../support/test-app.ts';

const aheadSeconds = 180;

const cluster = await startCluster();
/** Of two processes on one database one has a clock that is three minutes ahead, and one three minutes behind. */
const processes = [await start(aheadSeconds), await start(-aheadSeconds)];

function start(seconds: number): Promise<Service> {
  const file = join(temporaryDirectory(), 'clock.mjs');
  writeFileSync(
    file,
    `const Real = Date;
     globalThis.Date = class extends Real {
       constructor(...values) { super(...(values.length === 0 ? [Real.now() + ${seconds * 1000}] : values)); }
       static now() { return Real.now() + ${seconds * 1000}; }
     };`,
  );
  return Service.start({ DATABASE_URL: cluster.url, NODE_OPTIONS: `--import ${pathToFileURL(file).href}` });
}

const field = '{ createCategory(input: { name: "Once" }) { category { id } } }';

it.each([
  ['REST', '/categories', { name: 'Once' }],
  ['GraphQL', '/graphql', { query: `mutation ${field}` }],
  ['@atomic', '/graphql', { query: `mutation @atomic ${field}` }],
])(
  'a write is replayed for 24 hours by the clock of the database, and done anew after that: %s',
  async (name, path, body) => {
    const age = (seconds: number) =>
      cluster.sql(
        `update idempotency_records set created_at = now() - interval '24 hours' + ${seconds} * interval '1 second'`,
      );
    const replayed = async (service: Service) => {
      const { headers } = await service.post(path, body, { 'idempotency-key': `key of ${name}` });
      return headers.get('idempotent-replayed');
    };
    for (const [first, second] of [processes, processes.toReversed()] as readonly (readonly Service[])[]) {
      await cluster.sql('delete from idempotency_records');
      expect(await replayed(first!)).toBeNull();
      await age(60);
      expect([await replayed(second!), await replayed(first!)]).toEqual(['true', 'true']);
      await age(-60);
      expect(await replayed(second!)).toBeNull();
    }
  },
);

it("a ban, an expiry and an old secret's overlap end by the clock of the database, whichever process makes or meets them", async () => {
  for (const [maker, other] of [processes, processes.toReversed()] as readonly (readonly Service[])[]) {
    const ask = async (query: string) => (await maker!.graphql(query)).body.data;
    const { createApiKey } = await ask(
      'mutation { createApiKey(input: { name: "Banned", plan: FREE }) { apiKey { id createdAt } secret } }',
    );
    const { apiKey, secret } = createApiKey;
    expect(Math.abs(Date.parse(apiKey.createdAt) - Date.now())).toBeLessThan(20_000);
    await ask(`mutation { banApiKey(input: { id: "${apiKey.id}", seconds: 600 }) { apiKey { status } } }`);
    const refusals = [];
    for (const service of [maker!, other!]) {
      let response = await service.get('/pets', { 'x-api-key': secret });
      while (response.status === 200) response = await service.get('/pets', { 'x-api-key': secret });
      refusals.push(response);
    }
    expect(refusals.map(({ status }) => status)).toEqual([403, 403]);
    for (const { headers } of refusals) {
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(540);
      expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(601);
    }
    await ask(`mutation { unbanApiKey(input: { id: "${apiKey.id}" }) { apiKey { id } } }`);
    const rotated = await ask(
      `mutation { rotateApiKey(input: { id: "${apiKey.id}", overlapSeconds: 120 }) { apiKey { id } secret } }`,
    );
    const soon = new Date(Date.now() + 120_000).toISOString();
    const { createApiKey: short } = await ask(
      `mutation { createApiKey(input: { name: "Short", plan: FREE, expiresAt: "${soon}" }) { secret } }`,
    );
    for (const service of [maker!, other!]) {
      for (const key of [secret, rotated.rotateApiKey.secret, short.secret]) {
        const { status } = await service.get('/pets', { 'x-api-key': key });
        expect(status).not.toBe(401);
      }
    }
  }
});

it('a process whose clock differs says so in its log at the start, and in its metrics', async () => {
  for (const [index, seconds] of [aheadSeconds, -aheadSeconds].entries()) {
    const service = processes[index]!;
    const [line] = await service.line(/^.*this machine's clock differs from that of the database.*$/);
    const { offsetSeconds, level } = JSON.parse(line) as { readonly offsetSeconds: number; readonly level: number };
    const measured = Number(/^petstore_clock_offset_seconds (\S+)$/m.exec(await service.metrics())?.[1]);
    for (const offset of [offsetSeconds, measured]) expect(Math.abs(offset - seconds)).toBeLessThan(1);
    expect(level).toBe(40);
  }
  const lines: string[] = [];
  const logStream = { write: (line: string) => void lines.push(line) };
  const right = await startTestApp({ DATABASE_URL: cluster.url, LOG_LEVEL: 'info' }, { logStream });
  expect((await right.graphql('{ pets { totalCount } }')).status).toBe(200);
  expect(lines.join('')).toMatch(/"status":200/);
  expect(lines.join('')).not.toContain('clock differs');
});
