import { expect, it } from '@jest/globals';

import { startTestApp } from '../support/test-app.ts';

const store = await startTestApp({});

it.each([
  'subscription { events @include(if: 1e999) { id } }',
  'subscription ($on: Boolean!) { events @include(if: $on) { id } }',
  'subscription { ... @skip(if: {}) { events { id } } }',
  'subscription { ...A } fragment A on Subscription { ...A ...B } fragment B on Subscription { events @skip(if: null) { id } }',
])('%s is a refusal that says where, and no failure of the service', async (query) => {
  const { errors } = await store.graphql(query, { on: true });
  const locations = [{ line: 1, column: expect.any(Number) }];
  expect(errors).toMatchObject([{ locations, extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } }]);
});
