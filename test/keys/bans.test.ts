import { describe, expect, it } from '@jest/globals';

import { serviceItself } from '../../src/domain/access/principal.ts';
import { AccessService } from '../../src/domain/access/access.service.ts';
import type { QuotaDecision } from '../../src/platform/quotas/counter-store.ts';
import { type Access, startAccessProcess } from '../support/access-process.ts';
import { openTestDatabase } from '../support/opened-database.ts';
import { awaitValue } from '../support/until.ts';

let now = Date.now();

const opened = await openTestDatabase();
const service = new AccessService(opened.stores, serviceItself, { now: () => now });

/** Another process on the same database. */
function start(): Promise<Access> {
  return startAccessProcess(opened.database, { rules: { banAfter: 3, banForSeconds: 900 }, now: () => now });
}

async function request({ keys, quota }: Access, secret: string): Promise<QuotaDecision> {
  const principal = await keys.find(secret);
  return quota.consume(principal!, 1);
}

/** Spends the minute of a key that has one request in it, and goes on until the decision isn't a refusal. */
async function provoke(process: Access, secret: string): Promise<QuotaDecision> {
  await request(process, secret);
  await request(process, secret);
  now += 2_001;
  return awaitValue(
    async () => request(process, secret),
    ({ outcome }) => outcome !== 'refused',
  );
}

function newKey() {
  return service.create({ name: 'Impatient', plan: 'enterprise', requestsPerMinute: 1, requestsPerDay: 1_000 });
}

describe('an automatic ban', () => {
  it('survives the process, and the next one doubles it, until an operator forgives', async () => {
    const { apiKey, secret } = await newKey();
    const first = await start();
    expect(await provoke(first, secret)).toMatchObject({ outcome: 'banned', retryAfterSeconds: 900 });
    await first.close();

    const second = await start();
    expect(await request(second, secret)).toMatchObject({ outcome: 'banned', retryAfterSeconds: 900 });
    now += 900_000;
    expect(await provoke(second, secret)).toMatchObject({ outcome: 'banned', retryAfterSeconds: 1_800 });
    await second.close();

    const third = await start();
    expect(await request(third, secret)).toMatchObject({ outcome: 'banned', retryAfterSeconds: 1_800 });
    await service.unban(apiKey.id);
    now += 60_000;
    expect(await request(third, secret)).toMatchObject({ outcome: 'admitted' });
    now += 60_000;
    expect(await provoke(third, secret)).toMatchObject({ outcome: 'banned', retryAfterSeconds: 900 });
    await third.close();
  });

  it('is in the history of its key also when an operator ends it while others are being saved', async () => {
    const created = await Promise.all([newKey(), newKey(), newKey()]);
    const process = await start();
    for (const { secret } of created) await request(process, secret);
    for (const { secret } of created) await request(process, secret);
    now += 2_001;
    const decisions = [];
    for (let count = 0; count < 4; count += 1) {
      for (const { secret } of created) decisions.push((await request(process, secret)).outcome);
    }
    expect(decisions.slice(-3)).toEqual(['banned', 'banned', 'banned']);
    await Promise.all(created.map(({ apiKey }) => process.service.unban(apiKey.id)));
    const histories = await service.history.listPerParent(
      created.map(({ apiKey }) => apiKey.id),
      {},
    );
    for (const { rows } of histories) {
      expect(rows.map(({ action }) => action)).toEqual(['unbanned', 'banned', 'created']);
    }
    await process.close();
  });

  it('holds a second later in a process that has not seen the refusals', async () => {
    const { secret } = await newKey();
    const [one, other] = [await start(), await start()];
    expect(await request(other, secret)).toMatchObject({ outcome: 'admitted' });
    expect(await provoke(one, secret)).toMatchObject({ outcome: 'banned' });
    await one.close();
    now += 1_000;
    expect(await request(other, secret)).toMatchObject({ outcome: 'banned', retryAfterSeconds: 899 });
    await other.close();
  });
});

describe("an operator's ban", () => {
  it('holds a second later, for as long as it was said to', async () => {
    const { apiKey, secret } = await newKey();
    const process = await start();
    expect(await request(process, secret)).toMatchObject({ outcome: 'admitted' });
    await service.ban(apiKey.id, 90);
    now += 1_000;
    expect(await request(process, secret)).toMatchObject({ outcome: 'banned', retryAfterSeconds: 89 });
    now += 88_999;
    expect(await request(process, secret)).toMatchObject({ outcome: 'banned', retryAfterSeconds: 1 });
    now += 1;
    expect(await request(process, secret)).toMatchObject({ outcome: 'admitted' });
    await process.close();
  });

  it('of a shorter time replaces an automatic one that has a long way to go', async () => {
    const { apiKey, secret } = await newKey();
    const process = await start();
    expect(await provoke(process, secret)).toMatchObject({ outcome: 'banned', retryAfterSeconds: 900 });
    await service.ban(apiKey.id, 10);
    now += 60_000;
    expect(await request(process, secret)).toMatchObject({ outcome: 'admitted' });
    await process.close();
  });
});
