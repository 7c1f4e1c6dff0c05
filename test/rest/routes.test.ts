import { describe, expect, it } from '@jest/globals';

import { startTestApp } from '../support/test-app.ts';

const rest = await startTestApp({ REST_PREFIX: '/v1' }, { collectionLimits: { perProcess: 0 } });

describe('with REST_PREFIX', () => {
  it('everything is below the prefix and nothing at the root', async () => {
    const { id } = await rest.pet();
    expect((await rest.ask('GET', `/v1/pets/${id}`)).status).toBe(200);
    for (const url of ['/pets', `/pets/${id}`, '/store/orders', '/v1']) {
      expect((await rest.ask('GET', url)).status).toBe(404);
    }
    expect((await rest.ask('PUT', '/v1/inventory', {})).headers['allow']).toBe('GET, HEAD, OPTIONS');
    expect((await rest.graphql('{ pets(first: 1) { totalCount } }')).data.pets.totalCount).toBe(1);
  });

  it('every address in a response has it', async () => {
    const { id, categoryId } = await rest.pet();
    await rest.pet({ categoryId });
    const created = await rest.ask('POST', '/v1/pets', { name: 'Rex', categoryId });
    expect(created.headers['location']).toBe(`/v1/pets/${created.body.id}`);
    expect((await rest.ask('GET', '/v1/pets?limit=1')).headers['link']).toMatch(/^<\/v1\/pets\?limit=1&cursor=/);
    expect((await rest.ask('GET', `/v1/pets/${id}`)).headers['link']).toContain(`</v1/pets?id=${id}>; rel="successor`);
  });

  it('the document says so', async () => {
    const documentAt = (url: string) => rest.ask('GET', url, undefined, { host: 'store.example:8080' });
    const servers = [{ url: 'http://store.example:8080/v1', description: 'This server.' }];
    expect((await documentAt('/openapi.json')).body.servers).toEqual(servers);
    expect((await documentAt('/openapi.yaml')).text).toContain('\nservers:\n  - url: http://store.example:8080/v1\n');
    expect((await documentAt('/docs/openapi.json')).body.servers).toEqual([{ url: '/v1' }]);
  });
});

it('a whole collection beyond the slots of the process is refused by 503, and nothing else', async () => {
  for (const url of ['/v1/store/orders', '/v1/categories', '/v1/inventory']) {
    expect(await rest.ask('GET', url)).toMatchObject({
      status: 503,
      headers: { 'retry-after': '5', 'cache-control': 'no-store' },
      body: { code: 'unavailable', status: 503 },
    });
    expect((await rest.ask('GET', `${url}?limit=1`)).status).toBe(200);
    expect((await rest.ask('HEAD', url)).status).toBe(200);
    // What is wrong with the request comes first.
    expect((await rest.ask('GET', `${url}?cursor=forged`)).status).toBe(400);
  }
  expect((await rest.ask('GET', '/metrics')).text).toMatch('petstore_refusals_total{bound="streams"} 3\n');
});
