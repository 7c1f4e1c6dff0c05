import { expect, it } from '@jest/globals';

import { generateKey, hashKey } from '../../src/domain/access/api-key.ts';
import { connect } from '../support/postgres-client.ts';
import { startCluster } from '../support/started-cluster.ts';
import { Service } from '../support/service.ts';
import { until } from '../support/until.ts';

const maxChangeMillis = 5_000;
const maxGrowthMegabytes = 64;

const cluster = await startCluster();

const service = await Service.start({ DATABASE_URL: cluster.url });
const other = await connect(cluster.url);

async function insertKeys(name: string, hashes: readonly string[]): Promise<void> {
  await other.query(
    `insert into api_keys (name, prefix, sha256, plan, requests_per_minute, requests_per_day, scopes)
     select $1, 'petstore_many', sha256, 'enterprise', 1000000, 1000000, '{read}' from unnest($2::text[]) as sha256`,
    [name, hashes],
  );
}

async function statusFor(secret: string): Promise<number> {
  const response = await fetch(`${service.address}/inventory/1`, { headers: { 'x-api-key': secret } });
  await response.arrayBuffer();
  return response.status;
}

async function heapMegabytes(): Promise<number> {
  return Number(/^nodejs_heap_size_used_bytes (\S+)$/m.exec(await service.metrics())?.[1]) / 2 ** 20;
}

/** Requests of this key go on until one has the status; none may have another than these. */
async function millisUntil(secret: string, status: number, allowed: readonly number[]): Promise<number> {
  const started = performance.now();
  const isReached = async (): Promise<boolean> => {
    const seen = await statusFor(secret);
    expect([status, ...allowed]).toContain(seen);
    return seen === status;
  };
  await until(isReached, { maxMillis: 60_000 });
  return performance.now() - started;
}

it('20,000 keys that SQL revokes at once are refused within seconds, and other keys are served as before', async () => {
  const [kept, late] = [generateKey(), generateKey()];
  const revoked = Array.from({ length: 100 }, () => generateKey());
  await insertKeys('kept', [hashKey(kept), hashKey(late)]);
  await insertKeys('revoked', revoked.map(hashKey));
  await other.query(
    `insert into api_keys (name, prefix, sha256, plan, scopes)
     select 'revoked', 'petstore_many', encode(sha256(n::text::bytea), 'hex'), 'free', '{read}' from generate_series(1, 20000) as n`,
  );
  expect(new Set(await Promise.all([kept, ...revoked].map(statusFor)))).toEqual(new Set([404]));
  const before = await heapMegabytes();

  await other.query(`update api_keys set revoked_at = now() where name = 'revoked'`);
  expect(await millisUntil(revoked[0]!, 401, [404])).toBeLessThan(maxChangeMillis);
  // Not all of them: an address that sends invalid keys has a quota.
  expect(new Set(await Promise.all(revoked.slice(-20).map(statusFor)))).toEqual(new Set([401]));
  // Neither one that wasn't changed, nor one that is seen for the first time, nor one that doesn't exist, waits for the
  // others.
  expect([await statusFor(kept), await statusFor(late), await statusFor(generateKey())]).toEqual([404, 404, 401]);
  expect((await heapMegabytes()) - before).toBeLessThan(maxGrowthMegabytes);

  // What comes afterwards holds as soon as ever.
  await other.query(`update api_keys set revoked_at = now() where name = 'kept'`);
  expect(await millisUntil(kept, 401, [404])).toBeLessThan(maxChangeMillis);
  expect(service.output).not.toMatch(/"level":(?:50|60)/);
});
