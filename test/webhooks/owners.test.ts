import { describe, expect, it } from '@jest/globals';

import { until } from '../support/until.ts';
import { change, create, startStore } from './endpoints.ts';
import { Inbox } from './inbox.ts';

const mine = { plan: 'business', scopes: ['webhooks'] } as const;
const url = 'https://example.com/hook';

describe('a key with the scope webhooks', () => {
  it('manages its own endpoints; those of others are as if they were not there', async () => {
    const inbox = await Inbox.start();
    const store = await startStore([inbox]);
    const { id: adminsId } = await create(store, inbox);
    const [one, other] = await Promise.all([store.createKey(mine), store.createKey(mine)]);
    const { data } = await change(
      store,
      'createWebhookEndpoint',
      { url },
      'webhookEndpoint { id ownerId }',
      one.secret,
    );
    const { id } = data.result.webhookEndpoint;
    expect(data.result.webhookEndpoint).toEqual({ id, ownerId: one.id });
    const [own, admins] = [{ id }, { id: adminsId }];
    const seen = async (secret?: string): Promise<unknown> => {
      const query = `{ list: webhookEndpoints { totalCount nodes { id } }
        own: webhookEndpoint(id: ${id}) { id } admins: webhookEndpoint(id: ${adminsId}) { id } }`;
      return (await store.graphql(query, {}, secret)).data;
    };
    expect(await seen(one.secret)).toEqual({ list: { totalCount: 1, nodes: [own] }, own, admins: null });
    expect(await seen(other.secret)).toEqual({ list: { totalCount: 0, nodes: [] }, own: null, admins: null });
    expect(await seen()).toEqual({ list: { totalCount: 2, nodes: [admins, own] }, own, admins });
    for (const [name, input, payload] of [
      ['updateWebhookEndpoint', { isThin: true }, 'webhookEndpoint { id }'],
      ['pauseWebhookEndpoint', {}, 'webhookEndpoint { id }'],
      ['resumeWebhookEndpoint', {}, 'webhookEndpoint { id }'],
      ['rotateWebhookSecret', {}, 'secret'],
      ['testWebhookEndpoint', {}, 'status'],
      ['deleteWebhookEndpoint', {}, 'deletedWebhookEndpointId'],
    ] as const) {
      const refused = await change(store, name, { id, ...input }, payload, other.secret);
      expect([name, refused.codes]).toEqual([name, ['NOT_FOUND']]);
    }
    expect((await change(store, 'pauseWebhookEndpoint', { id }, undefined, one.secret)).errors).toEqual([]);
  });

  it('has at most five', async () => {
    const store = await startStore([await Inbox.start()]);
    const { secret } = await store.createKey(mine);
    const made = await Promise.all(
      Array.from({ length: 7 }, () => change(store, 'createWebhookEndpoint', { url }, undefined, secret)),
    );
    expect(made.flatMap(({ codes }) => codes)).toEqual(['CONFLICT', 'CONFLICT']);
  });

  it('sends to public addresses only, whatever WEBHOOK_ALLOW allows to administrators', async () => {
    const inbox = await Inbox.start();
    const store = await startStore([inbox]);
    const { secret } = await store.createKey(mine);
    const literal = { url: `https://127.0.0.1:${inbox.port}/` };
    expect((await change(store, 'createWebhookEndpoint', literal, undefined, secret)).codes).toEqual([
      'BAD_USER_INPUT',
    ]);
    const named = await change(store, 'createWebhookEndpoint', { url: inbox.url }, undefined, secret);
    const { id } = named.data.result.webhookEndpoint;
    const tested = await change(store, 'testWebhookEndpoint', { id }, 'status failure', secret);
    expect(tested.data.result).toEqual({ status: null, failure: 'FORBIDDEN_ADDRESS' });
    await store.category();
    const sent = `select failure from webhook_attempts where event_id not like 'test-%'`;
    await until(async () => (await store.sql(sent))[0]?.['failure'] === 'FORBIDDEN_ADDRESS');
    expect(inbox.requests).toEqual([]);
  });

  it.each([
    ['is revoked', 'revoked_at = now()'],
    ['has expired', "expires_at = now() - interval '1 second'"],
  ])('%s: its endpoints are disabled, and the history says by whom', async (_what, ending) => {
    const store = await startStore([await Inbox.start()], { LOG_LEVEL: 'info' });
    const { id: keyId, secret } = await store.createKey(mine);
    const made = await change(store, 'createWebhookEndpoint', { url }, undefined, secret);
    const { id } = made.data.result.webhookEndpoint;
    await store.sql(`update api_keys set ${ending} where id = $1`, [keyId]);
    const query = `{ webhookEndpoint(id: ${id}) { state disabledReason history(first: 1) { nodes { by changes } } } }`;
    const shown = async () => (await store.graphql(query)).data.webhookEndpoint;
    await until(async () => (await shown()).state === 'DISABLED');
    expect(await shown()).toEqual({
      state: 'DISABLED',
      disabledReason: 'KEY_ENDED',
      history: { nodes: [{ by: 'service', changes: ['disabledReason: KEY_ENDED'] }] },
    });
    await until(() =>
      store.log.some(({ msg, reason }) => msg === 'webhook endpoint is disabled' && reason === 'KEY_ENDED'),
    );
  });
});
