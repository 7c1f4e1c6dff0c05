import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { SqlEntityManager } from '@mikro-orm/postgresql';

import { ApiKey } from '../../domain/access/api-key.entity.ts';
import { parseKey } from '../../domain/access/api-key.ts';
import type { KeyRecords } from '../../domain/access/key-records.ts';
import { newApiKey } from '../../domain/access/new-api-key.ts';
import { RemoteClock } from '../../platform/remote-clock.ts';

/** Stores it in a file that only its owner can read: the database has only its hash. */
export async function addDemoKey(em: SqlEntityManager, dataDir: string): Promise<void> {
  const { secret, row } = newApiKey({ name: 'Demo', plan: 'business' }, new RemoteClock().now());
  await em.insert(ApiKey, row);
  const file = demoKeyFile(dataDir);
  // A file left by an unfinished start belongs to no key.
  rmSync(file, { force: true });
  writeFileSync(file, `${secret}\n`, { mode: 0o600 });
}

/** The demo key; undefined without its file, or once it is revoked. */
export async function findDemoKey(records: KeyRecords, dataDir: string): Promise<string | undefined> {
  const secret = readIfThere(demoKeyFile(dataDir))?.trim() ?? '';
  const hash = parseKey(secret);
  if (hash === undefined) return undefined;
  const { keys } = await records.read([hash], undefined);
  return keys.some(({ revokedAt }) => revokedAt === null) ? secret : undefined;
}

function demoKeyFile(dataDir: string): string {
  return join(dataDir, 'demo-key');
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
