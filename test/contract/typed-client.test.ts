import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import createClient, { type Client } from 'openapi-fetch';

import { startTestApp, type TestApp } from '../support/test-app.ts';
import type { paths } from './client-types.ts';
import { openKeys } from './keys.ts';

let app: TestApp;
let client: Client<paths>;

beforeAll(async () => {
  app = await startTestApp();
  const baseUrl = await app.app.server.listen({ port: 0, host: '127.0.0.1' });
  client = createClient<paths>({
    baseUrl,
    headers: await openKeys(app).unlimited(),
    // As the document says of `id`; types alone don't tell a client.
    querySerializer: { array: { style: 'form', explode: false } },
  });
});
afterAll(() => app.close());

/** That this compiles is half of what it is about: the types come from the document alone. */
describe('a client generated from the document', () => {
  it('creates, finds, lists, changes and deletes categories', async () => {
    const { data: created } = await client.POST('/categories', { body: { name: 'Dogs', description: 'Loyal' } });
    const path = { categoryId: created!.id };
    expect((await client.GET('/categories/{categoryId}', { params: { path } })).data).toEqual(created);
    expect((await client.GET('/categories')).data).toContainEqual(created);
    const changed = await client.PATCH('/categories/{categoryId}', { params: { path }, body: { description: null } });
    expect(changed.data).toEqual({ id: created!.id, name: 'Dogs' });
    expect((await client.DELETE('/categories/{categoryId}', { params: { path } })).response.status).toBe(204);
    const { error } = await client.GET('/categories/{categoryId}', { params: { path } });
    expect([error?.code, error?.status]).toEqual(['not_found', 404]);
  });

  it('creates, finds, picks, changes and deletes pets, and sets their stock', async () => {
    const { data: category } = await client.POST('/categories', { body: { name: 'Cats' } });
    const { data: created } = await client.POST('/pets', {
      body: { name: 'Mia', categoryId: category!.id },
      params: { header: { 'Idempotency-Key': 'typed client' } },
    });
    const path = { petId: created!.id };
    expect((await client.GET('/pets/{petId}', { params: { path } })).data).toEqual(created);
    const picked = await client.GET('/pets', { params: { query: { id: [created!.id, 99], status: 'available' } } });
    expect(picked.data).toEqual([created]);
    const changed = await client.PATCH('/pets/{petId}', { params: { path }, body: { status: 'sold' } });
    expect(changed.data).toEqual({ ...created, status: 'sold' });

    const stocked = await client.PATCH('/inventory/{petId}', { params: { path }, body: { quantity: 3 } });
    expect(stocked.data).toEqual({ petId: created!.id, quantity: 3, status: 'sold' });
    expect((await client.GET('/inventory/{petId}', { params: { path } })).data).toEqual(stocked.data);
    expect((await client.GET('/inventory', { params: { query: { limit: 10 } } })).data).toEqual([stocked.data]);

    expect((await client.DELETE('/pets/{petId}', { params: { path } })).response.status).toBe(204);
  });

  it('creates, finds, lists, changes and cancels orders', async () => {
    const shipDate = '2026-12-24T10:00:00.000Z';
    const { data: created } = await client.POST('/store/orders', { body: { quantity: 2, shipDate, complete: false } });
    const path = { orderId: created!.id! };
    expect((await client.GET('/store/orders/{orderId}', { params: { path } })).data).toEqual(created);
    expect((await client.GET('/store/orders')).data).toEqual([created]);
    const { response } = await client.GET('/store/orders/{orderId}', { params: { path } });
    const changed = await client.PATCH('/store/orders/{orderId}', {
      params: { path, header: { 'If-Match': response.headers.get('etag')! } },
      body: { quantity: null },
    });
    expect(changed.data).toEqual({ id: created!.id, shipDate, complete: false });
    expect((await client.DELETE('/store/orders/{orderId}', { params: { path } })).response.status).toBe(204);
  });
});
