import assert from 'node:assert/strict';

import createClient from 'openapi-fetch';

import type { components, paths } from '../generated/openapi.ts';
import { MisbehavingProxy, type Misbehaviour } from '../shared/misbehaving-proxy.ts';
import { retryingFetch } from '../shared/retrying-fetch.ts';
import { apiKey, assertEveryPet, report, serviceUrl, secondsThrottled, throttledKey } from '../shared/service.ts';

// guide:begin openapi-fetch-setup
type Order = components['schemas']['Order'];
type Pet = components['schemas']['Pet'];

const client = createClient<paths>({
  baseUrl: serviceUrl,
  headers: { Authorization: `Bearer ${apiKey}` },
  fetch: retryingFetch,
});
// guide:end

// guide:begin openapi-fetch-pagination
/** Follows `Link` from page to page. */
async function readAllPets() {
  const pets: Pet[] = [];
  let pages = 0;
  for (let cursor: string | undefined; ;) {
    const { data, error, response } = await client.GET('/pets', {
      params: { query: { limit: 10, ...(cursor === undefined ? {} : { cursor }) } },
    });
    if (error !== undefined) throw new Error(error.message);
    pets.push(...data);
    pages += 1;
    const next = /<([^>]+)>; rel="next"/.exec(response.headers.get('Link') ?? '')?.[1];
    if (next === undefined) return { pages, pets };
    cursor = new URL(next, serviceUrl).searchParams.get('cursor') ?? undefined;
  }
}
// guide:end

// guide:begin openapi-fetch-change
/** Changes a pet unless somebody else was faster: then the result is undefined, and the pet has to be read again. */
async function renamePet(id: number, name: string): Promise<Pet | undefined> {
  const { data: [pet] = [], response: read } = await client.GET('/pets', { params: { query: { id: [id] } } });
  if (pet === undefined) return undefined;
  const { data, response } = await client.PATCH('/pets/{petId}', {
    params: { path: { petId: id }, header: { 'If-Match': read.headers.get('ETag') ?? '*' } },
    body: { name },
  });
  return response.status === 412 ? undefined : data;
}
// guide:end

// guide:begin openapi-fetch-idempotency
/** Orders exactly once: `intent` is made before the first attempt, for example by `crypto.randomUUID()`. */
async function orderOnce(
  body: { petId: number; quantity: number },
  intent: string,
  baseUrl = serviceUrl,
): Promise<Order> {
  const { data, error } = await client.POST('/store/orders', {
    baseUrl,
    params: { header: { 'Idempotency-Key': intent } },
    body,
  });
  if (error !== undefined) throw new Error(error.message);
  return data;
}
// guide:end

/** Orders through a proxy that loses responses. Each order is there once, as it was answered. */
async function orderThroughLosses(petId: number) {
  const losses = Array.from({ length: 10 }, (): Misbehaviour[] => ['lost', 'cut', 'passed']).flat();
  const proxy = await MisbehavingProxy.start(serviceUrl, losses);
  const orders: Order[] = [];
  for (let quantity = 1; quantity <= 10; quantity += 1) {
    orders.push(await orderOnce({ petId, quantity }, crypto.randomUUID(), proxy.url));
  }
  await proxy.close();
  assert.deepEqual(proxy.left, []);
  assert.deepEqual((await client.GET('/store/orders')).data, orders);
  return { orders: orders.length, lostResponses: losses.filter((each) => each !== 'passed').length };
}

/** What the types have to allow: that this compiles is half of the test. */
async function useOptionalFields(): Promise<void> {
  const { data: category } = await client.POST('/categories', { body: { name: 'Dogs', description: 'Loyal' } });
  assert.ok(category);
  const { data: cleared } = await client.PATCH('/categories/{categoryId}', {
    params: { path: { categoryId: category.id } },
    body: { description: null },
  });
  assert.deepEqual(cleared, { id: category.id, name: 'Dogs' });
  const { data: pet } = await client.POST('/pets', { body: { name: 'Mia', categoryId: category.id } });
  assert.ok(pet);
  const picked = await client.GET('/pets', { params: { query: { id: [pet.id, 2 ** 40], status: 'available' } } });
  assert.deepEqual(picked.data, [pet]);
  // `complete` can be left out.
  const { data: order } = await client.POST('/store/orders', { body: { petId: pet.id, quantity: 2 } });
  assert.ok(order?.id !== undefined);
  const params = { path: { orderId: order.id } };
  const { data: changed } = await client.PATCH('/store/orders/{orderId}', { params, body: { quantity: null } });
  assert.deepEqual(changed, { id: order.id, petId: pet.id, complete: false });
  assert.equal((await client.DELETE('/store/orders/{orderId}', { params })).response.status, 204);
  const { error } = await client.GET('/store/orders/{orderId}', { params });
  assert.deepEqual([error?.code, error?.status], ['not_found', 404]);
}

/** As axios and openapi-zod-client write a list: refused by an error that says how it is written. */
async function tryBrackets(): Promise<void> {
  const response = await fetch(`${serviceUrl}/pets?id[]=1&id[]=2`, { headers: { Authorization: `Bearer ${apiKey}` } });
  const { message } = (await response.json()) as components['schemas']['Error'];
  assert.equal(response.status, 400);
  assert.match(message, /^id: must be written id=1,2/);
}

const throttled = { headers: { Authorization: `Bearer ${throttledKey}` } };
const waiting = secondsThrottled(async () => {
  assert.equal((await client.GET('/categories', throttled)).response.status, 200);
});
const { pages, pets } = await readAllPets();
assertEveryPet(pets);
const [pet] = pets;
assert.ok(pet);
assert.equal((await renamePet(pet.id, 'Rex of REST'))?.name, 'Rex of REST');
await useOptionalFields();
await tryBrackets();
const retried = await orderThroughLosses(pet.id);
const waitedSeconds = await waiting;
report({ client: 'openapi-fetch', pets: pets.length, pages, ...retried, waitedSeconds });
