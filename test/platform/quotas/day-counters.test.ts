import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

import { beforeEach, describe, expect, it } from '@jest/globals';

import { readConfig } from '../../../src/config.ts';
import { openDatabase } from '../../../src/database/start/open.ts';
import type { Access } from '../../../src/keys/open-access.ts';
import type { QuotaSubject } from '../../../src/platform/quotas/counter-store.ts';
import { startAccessProcess } from '../../support/access-process.ts';
import { spawnChild } from '../../support/child-process.ts';
import { createTestDatabase } from '../../support/test-database.ts';

// Engines and processes are started several times.

let environment: Readonly<Record<string, string>>;

beforeEach(async () => {
  environment = await createTestDatabase();
});

/** The part of a process that counts. */
interface Process {
  readonly access: Access;
  end(): Promise<void>;
}

async function start(): Promise<Process> {
  const { databaseUrl: url, dataDir } = readConfig(environment);
  const database = await openDatabase({ url, dataDir, poolSize: 2, withDemoStore: false });
  const access = await startAccessProcess(database);
  const end = async (): Promise<void> => {
    await access.close();
    await database.close();
  };
  return { access, end };
}

function keyOf(requestsPerDay: number): QuotaSubject {
  const limits = { requestsPerMinute: 1_000_000, requestsPerDay };
  return { id: '1', limits, bans: { epoch: 0, bannedUntil: 0, automaticBans: [] }, isAnonymous: false };
}

describe('the day counters of a single process', () => {
  it('are complete after an orderly end, and the window is the same one', async () => {
    const first = await start();
    const [spent] = await Promise.all(Array.from({ length: 30 }, async () => first.access.quota.consume(keyOf(50), 1)));
    await first.end();

    const second = await start();
    const { day } = await second.access.quota.peek(keyOf(50));
    expect({ remaining: day.remaining, resetsAt: day.resetsAt }).toEqual({
      remaining: 20,
      resetsAt: spent?.day.resetsAt,
    });
    const decisions = await Promise.all(
      Array.from({ length: 30 }, async () => second.access.quota.consume(keyOf(50), 1)),
    );
    expect(decisions.filter(({ outcome }) => outcome === 'admitted')).toHaveLength(20);
    await second.end();
  });

  it('lose no more than the last second before a SIGKILL', async () => {
    const script = join(import.meta.dirname, 'spending-process.ts');
    const env = { PATH: process.env['PATH'], ...environment };
    const child = spawnChild(process.execPath, [script], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = once(child, 'exit');
    const lines: { at: number; spent: number }[] = [];
    for await (const line of createInterface({ input: child.stdout })) {
      lines.push(JSON.parse(line) as (typeof lines)[number]);
      if (lines.at(-1)!.at - lines[0]!.at > 2_000) child.kill('SIGKILL');
    }
    await ended;

    const last = lines.at(-1)!;
    const safe = lines.findLast(({ at }) => at <= last.at - 1_000)!;
    const after = await start();
    const { day } = await after.access.quota.peek(keyOf(1_000_000));
    const kept = day.limit - day.remaining;
    expect(kept).toBeGreaterThanOrEqual(safe.spent);
    expect(safe.spent).toBeGreaterThan(0);
    expect(kept).toBeLessThanOrEqual(last.spent + 1);
    await after.end();
  });
});
