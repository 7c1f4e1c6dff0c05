import { beforeAll, describe, expect, it } from '@jest/globals';

import { assertBound } from '../../src/rest/routes.ts';
import { readOperations } from '../../src/rest/openapi/document.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';

describe('handlers and operations', () => {
  const operations = readOperations();
  const ids = operations.map(({ operationId }) => operationId);

  it('stop the start when one of either is missing', () => {
    expect(() => assertBound(operations, ids.slice(1))).toThrow(/no handler: listPets/);
    expect(() => assertBound(operations.slice(1), ids)).toThrow(/no operation in the OpenAPI document: listPets/);
  });
});

describe('with REST_PREFIX', () => {
  let rest: TestApp;
  beforeAll(async () => {
    rest = await startTestApp({ REST_PREFIX: '/v1' });
  });

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
});
