import { join } from 'node:path';

import { MeasuredProcess } from './measured-process.ts';
import type { Workload } from './workloads.ts';

export const root = join(import.meta.dirname, '../..');

/** The administrator's key of a database that is used once. */
export const adminKey = 'bench-admin-key-of-a-database-used-once';

export function mainOf(folder: string): string {
  return join(folder, 'dist/src/main.js');
}

/** The service in production, this build unless another command is given. */
export function startService(
  settings: Readonly<Record<string, string>>,
  command: readonly string[] = [process.execPath, mainOf(root)],
): Promise<MeasuredProcess> {
  return MeasuredProcess.start(command, {
    NODE_ENV: 'production',
    PORT: '0',
    ADMIN_API_KEY: adminKey,
    ...settings,
  });
}

/** The keys that send the workloads: one, or a thousand. */
export async function createKeysFor(chosen: readonly Workload[], address: string): Promise<string[]> {
  const count = chosen.some(({ isOfManyKeys }) => isOfManyKeys) ? 1000 : 1;
  const keys: string[] = [];
  while (keys.length < count) keys.push(await createKey(address));
  return keys;
}

/** A key, by default one whose quota never runs out, so that it is only counted. */
export async function createKey(
  address: string,
  plan = 'ENTERPRISE, requestsPerMinute: 1000000000, requestsPerDay: 1000000000',
): Promise<string> {
  const response = await fetch(`${address}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${adminKey}` },
    body: JSON.stringify({ query: `mutation { createApiKey(input: { name: "Bench", plan: ${plan} }) { secret } }` }),
  });
  const { data } = (await response.json()) as { data: { createApiKey: { secret: string } } };
  return data.createApiKey.secret;
}
