import { execFileSync } from 'node:child_process';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';

import { expect, it } from '@jest/globals';

import { signatureHeaders } from '../../src/webhooks/signature.ts';
import { atEnd } from '../support/at-end.ts';
import { findFreePort } from '../support/free-port.ts';
import { RunningCommand } from '../support/running-command.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { startTestApp } from '../support/test-app.ts';

const guide = readFileSync('src/pages/guides/webhooks.md', 'utf8');
const folder = temporaryDirectory();
const port = await findFreePort();

// As the guide has it, with another port.
execFileSync('sh', ['-c', /^openssl .*$/m.exec(guide)![0]], { cwd: folder, stdio: 'ignore' });
for (const [, text, name] of guide.matchAll(/^```(?:js|py)\n((?:\/\/|#) ((?:receiver|function)\.\w+)\n.*?)^```$/gms))
  writeFileSync(join(folder, name!), text!.replaceAll('8443', String(port)));
const ca = readFileSync(join(folder, 'cert.pem'), 'utf8');
// NODE_EXTRA_CA_CERTS of a service that is in this process.
setDefaultCACertificates([...getCACertificates('bundled'), ca]);

const store = await startTestApp({
  WEBHOOK_SIGNING_KEY: Buffer.alloc(32, 1).toString('base64'),
  WEBHOOK_ALLOW: /WEBHOOK_ALLOW=(\S+)/.exec(guide)![1]!,
  WEBHOOK_PORTS: String(port),
});

const create = `mutation ($url: String!) {
  createWebhookEndpoint(input: { url: $url, eventTypes: [PET_UPDATED] }) { webhookEndpoint { id } secret }
}`;

function post(headers: Readonly<Record<string, string>>, body: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const agent = new Agent({ ca });
    const length = { 'content-length': String(Buffer.byteLength(body)) };
    request({ host: 'localhost', port, method: 'POST', agent, headers: { ...length, ...headers } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on('error', reject)
      .end(body);
  });
}

it.each(['node receiver.js', '/usr/bin/env python3 receiver.py'])(
  'the receiver of the guide gets a test and an event, each once, and nothing that is forged or old: %s',
  async (command) => {
    const { createWebhookEndpoint } = (await store.graphql(create, { url: `https://localhost:${port}/petstore` })).data;
    const { webhookEndpoint, secret } = createWebhookEndpoint as { webhookEndpoint: { id: string }; secret: string };
    const { id } = webhookEndpoint;
    const receiver = new RunningCommand(command, { WEBHOOK_SECRET: secret }, folder);
    atEnd(() => receiver.stop());
    await receiver.line(/^listening$/);

    const test = 'mutation ($id: ID!) { testWebhookEndpoint(input: { id: $id }) { status failure } }';
    expect((await store.graphql(test, { id })).data).toEqual({ testWebhookEndpoint: { status: 204, failure: null } });
    await receiver.line(/^webhook\.test ?$/);
    const pet = await store.pet();
    await store.ask('PATCH', `/pets/${pet.id}`, { name: 'Rover' });
    await receiver.line(new RegExp(`^pet\\.updated /pets/${pet.id}$`));

    const body = JSON.stringify({ type: 'again', data: { resource: '/pets/1' } });
    const now = Math.floor(Date.now() / 1_000);
    const signed = (seconds: number, secrets = [secret]) => signatureHeaders('evt_1', seconds, body, secrets);
    const other = `whsec_${Buffer.alloc(32, 2).toString('base64')}`;
    expect(await post(signed(now - 301), body)).toBe(401);
    expect(await post(signed(now + 302), body)).toBe(401);
    expect(await post(signed(now, [other]), body)).toBe(401);
    expect(await post(signed(now), body.replace('again', 'agaim'))).toBe(401);
    expect(await post({ 'webhook-signature': 'v1,é' }, body)).toBe(401);
    expect(await post({}, body)).toBe(401);
    // While a secret is rotated, and twice.
    expect(await post(signed(now, [other, secret]), body)).toBe(204);
    expect(await post(signed(now), body)).toBe(204);
    expect(
      await post(
        { ...signatureHeaders('evt_2', now, '{"type":"last","data":{}}', [secret]) },
        '{"type":"last","data":{}}',
      ),
    ).toBe(204);
    await receiver.line(/^last ?$/);
    expect(receiver.output.match(/^again .*$/gm)).toEqual(['again /pets/1']);

    await store.graphql(
      'mutation ($id: ID!) { deleteWebhookEndpoint(input: { id: $id }) { deletedWebhookEndpointId } }',
      {
        id,
      },
    );
  },
);

it('the function of the guide stores what is signed, refuses what is not, and says when it can store nothing', () => {
  symlinkSync(join(process.cwd(), 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'store.js'), `export const store = async (id) => id === 'evt_1';`);
  const secret = `whsec_${Buffer.alloc(32, 3).toString('base64')}`;
  const body = '{"type":"pet.updated","data":{}}';
  const headersOf = (id: string, signing: string) =>
    signatureHeaders(id, Math.floor(Date.now() / 1_000), body, [signing]);
  const headers = [
    headersOf('evt_1', secret),
    headersOf('evt_2', secret),
    headersOf('evt_1', `whsec_${Buffer.alloc(32, 4).toString('base64')}`),
  ];
  const script = `import { POST } from './function.js';
    for (const headers of ${JSON.stringify(headers)}) {
      const response = await POST(new Request('https://x/', { method: 'POST', headers, body: ${JSON.stringify(body)} }));
      console.log(response.status, response.headers.get('retry-after'));
    }`;
  const output = execFileSync(process.execPath, ['--no-warnings', '--input-type=module', '--eval', script], {
    cwd: folder,
    env: { WEBHOOK_SECRET: secret },
    encoding: 'utf8',
  });
  expect(output).toBe('204 null\n503 5\n401 null\n');
});
