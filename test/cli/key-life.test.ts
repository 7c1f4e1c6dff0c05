import { expect, it } from '@jest/globals';

import { startTestApp } from '../support/test-app.ts';
import { awaitValue, until } from '../support/until.ts';
import { keysIn } from './run-keys.ts';

const store = await startTestApp();

// oxlint-disable-next-line typescript/no-explicit-any -- what a command prints is its own to say
async function json(...args: readonly string[]): Promise<any> {
  const { exitCode, stdout, stderr } = await keysIn(store.environment, ...args, '--json');
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: expect.stringMatching(/^Database: .+\n$/) });
  return JSON.parse(stdout);
}

async function text(...args: readonly string[]): Promise<string> {
  const { exitCode, stdout } = await keysIn(store.environment, ...args);
  expect(exitCode).toBe(0);
  return stdout;
}

async function statusOf(secret: string): Promise<number> {
  return (await store.graphql('{ __typename }', {}, secret)).status;
}

/** Until what the command line has changed holds in the running service. */
async function untilStatus(secret: string, status: number): Promise<void> {
  await until(async () => (await statusOf(secret)) === status, { everyMillis: 20 });
}

it('a key is created, used, near its limit, changed, rotated with an overlap, revoked, and has a history, beside a running service', async () => {
  const figures = ['--plan', 'enterprise', '--per-minute', '1000', '--per-day', '200'];
  const { id, secret } = await json('create', '--name', 'Partner', ...figures, '--expires-in', '90d');
  expect(await json('show', id)).toMatchObject({
    id,
    name: 'Partner',
    status: 'active',
    lastUsedAt: null,
    usage: { minute: { spent: 0, limit: 1_000 }, day: { spent: 0, limit: 200 } },
  });
  expect(await text('list', '--near-limit', '80')).not.toContain('Partner');

  for (let request = 0; request < 160; request += 1) expect(await statusOf(secret)).toBe(200);
  // What isn't the service sees what it has saved, every half second.
  const shown = await awaitValue(
    () => json('show', id),
    ({ usage }) => usage.day.spent >= 160,
    { maxMillis: 60_000 },
  );
  expect(shown).toMatchObject({ usage: { day: { spent: 160, limit: 200 } }, lastUsedAt: expect.any(String) });
  expect(await text('list', '--near-limit', '80')).toMatch(/Partner .* \d+\/1,000 +160\/200 +20\d\d-/);
  expect(await text('list', '--usage')).toMatch(/MINUTE +DAY +LAST USED$/m);
  expect(((await json('list', '--sort', 'spent')) as { id: string }[])[0]?.id).toBe(id);
  expect(((await json('list', '--near-limit', '81')) as { id: string }[]).map((key) => key.id)).not.toContain(id);

  const updated = await json('update', id, '--name', 'Partner 2', '--scopes', 'read', '--expires-in', 'never');
  expect(updated).toMatchObject({ name: 'Partner 2', scopes: ['read'], expiresAt: null });

  const rotated = await json('rotate', id, '--overlap', '10m');
  expect(Math.round((Date.parse(rotated.previousSecretExpiresAt) - Date.now()) / 60_000)).toBe(10);
  await untilStatus(rotated.secret, 200);
  expect(await statusOf(secret)).toBe(200);
  const { stdout: third, stderr } = await keysIn(store.environment, 'rotate', id, '--overlap', '0s');
  expect(third).toMatch(/^petstore_[0-9A-Za-z]{49}\n$/);
  expect(stderr).not.toContain(third.trim());
  await untilStatus(rotated.secret, 401);
  expect([await statusOf(secret), await statusOf(third.trim())]).toEqual([401, 200]);

  await json('revoke', id);
  await untilStatus(third.trim(), 401);
  const { exitCode, stderr: refusal } = await keysIn(store.environment, 'rotate', id);
  expect({ exitCode, refusal }).toEqual({ exitCode: 1, refusal: expect.stringContaining('is revoked') });

  const history = (await json('history', id)) as { by: string; action: string; changes: object }[];
  expect(history.map(({ by, action }) => `${by} ${action}`)).toEqual([
    'cli revoked',
    'cli rotated',
    'cli rotated',
    'cli updated',
    'cli created',
  ]);
  expect(history[3]?.changes).toMatchObject({ name: { from: 'Partner', to: 'Partner 2' } });
  expect(await text('history', id)).toMatch(/cli +updated +.*name: Partner → Partner 2/);
});

it.each([
  ['update without a change', ['update', '1'], '--name, --scopes and --expires-in'],
  ['an unknown order', ['list', '--sort', 'name'], 'one of id, spent'],
  ['a wrong percentage', ['list', '--near-limit', '101'], 'from 1 to 100'],
  ['an overlap that is too long', ['rotate', '1', '--overlap', '31d'], '--overlap (in seconds) must be'],
])('%s is refused with exit code 2', async (_, args, message) => {
  const { exitCode, stdout, stderr } = await keysIn(store.environment, ...args);
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
  expect(stderr).toContain(message);
});
