import { randomBytes } from 'node:crypto';

import { startTestApp, type TestApp } from '../support/test-app.ts';
import type { Inbox } from './inbox.ts';

export const settings = {
  WEBHOOK_SIGNING_KEY: randomBytes(32).toString('base64'),
  WEBHOOK_ALLOW: '127.0.0.0/8',
};

export function startStore(inboxes: readonly Inbox[], more: Record<string, string> = {}): Promise<TestApp> {
  const ports = inboxes.map(({ port }) => port).join(',');
  return startTestApp({ ...settings, WEBHOOK_PORTS: ports, ...more });
}

const shown =
  'id url description eventTypes isThin maxInFlight state version failingSince nextAttemptAt disabledReason';

export function change(
  store: TestApp,
  name: string,
  input: object,
  payload = `webhookEndpoint { ${shown} }`,
  key = store.key,
) {
  const type = `${name[0]!.toUpperCase()}${name.slice(1)}Input`;
  return store.graphql(`mutation ($input: ${type}!) { result: ${name}(input: $input) { ${payload} } }`, { input }, key);
}

export async function create(store: TestApp, inbox: Inbox, more: object = {}): Promise<Created> {
  const input = { url: inbox.url, ...more };
  const { data, errors } = await change(store, 'createWebhookEndpoint', input, `webhookEndpoint { ${shown} } secret`);
  if (errors.length > 0) throw new Error(JSON.stringify(errors));
  inbox.secrets.push(data.result.secret as string);
  return { ...data.result.webhookEndpoint, secret: data.result.secret };
}

interface Created {
  readonly id: string;
  readonly version: string;
  readonly secret: string;
}

export async function endpoint(store: TestApp, id: string, fields = shown): Promise<Record<string, never>> {
  const { data } = await store.graphql(`query ($id: ID!) { webhookEndpoint(id: $id) { ${fields} } }`, { id });
  return data.webhookEndpoint;
}
