import { describe, expect, it } from '@jest/globals';

import { attackBodies } from '../hostile/attack-bodies.ts';
import { startTestApp } from '../support/test-app.ts';

const maxResponseBytes = 8 * 1024 * 1024 + 1024;

const service = await startTestApp();
await service.sql(
  `insert into categories (id, name, description) select n, 'Category ' || n, repeat('€', 2000) from generate_series(1, 50) n`,
);
await service.sql(
  `insert into pets (id, name, category_id) select n, 'Pet ' || n, 1 + n % 50 from generate_series(1, 5000) n`,
);
await service.sql('insert into inventory (pet_id, quantity) select id, 3 from pets');
// The first request of all prepares more than itself.
await service.graphql('{ pets(first: 1) { edges { node { id } } } }');

// How long it keeps others waiting is measured of a process of its own (test/hostile).
describe('whatever is sent, the response is small, and says what is wrong', () => {
  it.each(attackBodies)('$name: $status', async ({ status, code, body }) => {
    const response = await service.app.server.inject({
      method: 'POST',
      url: '/graphql',
      headers: { authorization: `Bearer ${service.key}`, 'content-type': 'application/json' },
      payload: body,
    });
    const errors: { extensions: { code: string } }[] = response.json().errors ?? [];
    expect(response.statusCode).toBe(status);
    if (code !== undefined) expect(errors[0]!.extensions.code).toBe(code);
    expect(errors.length).toBeLessThanOrEqual(101);
    expect(Buffer.byteLength(response.payload)).toBeLessThan(maxResponseBytes);
  });
});
