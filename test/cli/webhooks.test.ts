import { expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';

import { runWebhooks } from '../../src/cli/webhooks/run.ts';
import { received, type Received, startReceiver } from '../platform/egress/receiver.ts';
import { startTestApp } from '../support/test-app.ts';
import { awaitValue, until } from '../support/until.ts';
import { commandIn, commandProcess, type CommandRun } from './run-command.ts';

const deliveries: Received[] = [];
let status = 204;
const port = await startReceiver((request, response) => {
  void received(request).then((each) => {
    deliveries.push(each);
    response.writeHead(status).end();
  });
});
const url = `https://localhost:${port}/petstore`;

const store = await startTestApp({
  WEBHOOK_SIGNING_KEY: Buffer.alloc(32, 1).toString('base64'),
  WEBHOOK_ALLOW: '127.0.0.0/8',
  WEBHOOK_PORTS: String(port),
});

function webhooks(...args: readonly string[]): Promise<CommandRun> {
  return commandIn(runWebhooks, store.environment, args);
}

// oxlint-disable-next-line typescript/no-explicit-any -- what a command prints is its own to say
async function json(...args: readonly string[]): Promise<any> {
  const { exitCode, stdout, stderr } = await webhooks(...args, '--json');
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: expect.stringMatching(/^Database: .+\n$/) });
  return JSON.parse(stdout);
}

function typesOf(each: readonly Received[]): string[] {
  return each.map(({ body }) => (JSON.parse(body) as { type: string }).type);
}

it('an endpoint is created, tested, sent to, paused, resumed, changed, rotated, replayed and deleted, beside a running service', async () => {
  const options = ['--description', 'Stock', '--types', 'category.created,category.updated', '--max-in-flight', '1'];
  const { id, secret, state, position } = await json('create', '--url', url, ...options, '--thin', 'on');
  expect([state, secret]).toEqual(['active', expect.stringMatching(/^whsec_[\w+/]{43}=$/)]);

  expect((await webhooks('test', id)).stdout).toMatch(/^test-[-\w]+: 204 in \d+ ms \(delivered\)\.\n$/);
  await store.category('Foxes');
  await until(() => deliveries.length === 2);
  expect(typesOf(deliveries)).toEqual(['webhook.test', 'category.created']);
  for (const { headers, body } of deliveries) new Webhook(secret).verify(body, headers as Record<string, string>);

  // What the service has sent is there when it has been saved.
  const attempts = await awaitValue<{ result: string; status: number }[]>(
    () => json('attempts', id),
    ({ length }) => length === 2,
  );
  expect(attempts.map(({ result, status: each }) => `${result} ${each}`)).toEqual(['delivered 204', 'delivered 204']);
  expect((await webhooks('attempts', id)).stdout).toMatch(/^AT +RESULT +STATUS +MS +EVENT\n.+ delivered +204 +\d+ /);
  expect((await webhooks('list')).stdout).toMatch(
    new RegExp(`^ *ID +URL .+\\n *${id} +${url} +category.created,category.updated +active +Stock$`, 'm'),
  );
  expect((await webhooks('show', id)).stdout).toMatch(/^THIN +on\nIN FLIGHT +at most 1\n(?:.+\n)+LATEST .+ 204 in /m);

  expect(await json('pause', id)).toMatchObject({ state: 'paused' });
  expect(await json('resume', id)).toMatchObject({ state: 'active' });
  const changes = ['--types', 'all', '--thin', 'off', '--description', ''];
  expect(await json('update', id, ...changes)).toMatchObject({ eventTypes: null, isThin: false, description: null });
  const rotated = await webhooks('rotate', id, '--overlap', '10m');
  expect(rotated.stdout).toMatch(/^whsec_\S+\n$/);
  expect(rotated.stderr).not.toContain(rotated.stdout.trim());
  await json('replay', id, '--after', position);
  await until(() => typesOf(deliveries).filter((type) => type === 'category.created').length === 2);
  const { headers, body } = deliveries.at(-1)!;
  for (const each of [secret, rotated.stdout.trim()]) new Webhook(each).verify(body, headers as Record<string, string>);

  expect(await webhooks('delete', id)).toMatchObject({ exitCode: 0, stdout: `Webhook endpoint ${id} is deleted.\n` });
  const history = (await json('history', id)) as { by: string; action: string }[];
  expect(history.map(({ by, action }) => `${by} ${action}`)).toEqual([
    'cli deleted',
    'cli replayed',
    ...Array<string>(4).fill('cli updated'),
    'cli created',
  ]);
  expect((await webhooks('show', id)).exitCode).toBe(1);
});

it('a test that is not delivered ends with exit code 1', async () => {
  const { id } = await json('create', '--url', url);
  status = 503;
  const { exitCode, stdout } = await webhooks('test', id);
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: expect.stringMatching(/: 503 in \d+ ms \(failed\)/) });
});

it.each([
  ['a URL that is missing', ['create'], '--url is needed.'],
  ['a URL without TLS', ['create', '--url', 'http://example.com/'], '--url does not begin with https://.'],
  ['an unknown type', ['create', '--url', url, '--types', 'pet.sold'], 'must be one of pet.created,'],
  ['too many in flight', ['create', '--url', url, '--max-in-flight', '17'], '--max-in-flight must be'],
  ['a switch with another value', ['update', '1', '--thin', 'yes'], 'must be one of on, off'],
  ['an update without a change', ['update', '1'], 'at least one of --url, '],
  ['an event that is none', ['replay', '1', '--after', 'x'], '--after "x" is not the id of an event'],
  ['an overlap that is too long', ['rotate', '1', '--overlap', '8d'], '--overlap (in seconds) must be'],
  ['a missing id', ['pause'], 'pause needs the id of an endpoint; `list` shows them.'],
])('names %s, with exit code 2 and nothing on standard output', async (_, args, message) => {
  const { exitCode, stdout, stderr } = await webhooks(...args);
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
  expect(stderr).toContain(message);
});

it('names the setting without which nothing is sent, and the command that makes it, which needs no database', async () => {
  const off = { ...store.environment, WEBHOOK_SIGNING_KEY: '' };
  const { exitCode, stderr } = await commandIn(runWebhooks, off, ['create', '--url', url]);
  expect([exitCode, stderr]).toEqual([
    1,
    expect.stringMatching(/WEBHOOK_SIGNING_KEY is not set: `npm run -s webhooks/),
  ]);
  const made = await commandProcess('webhooks', {}, ['secret']);
  expect(made).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^[\w+/]{43}=\n$/) });
  expect(Buffer.from(made.stdout, 'base64')).toHaveLength(32);
});

it('explains itself', async () => {
  const { exitCode, stdout } = await webhooks('--help');
  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: expect.stringContaining('webhooks create --url URL') });
});
