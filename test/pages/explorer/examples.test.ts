import { afterAll, beforeAll, expect, it } from '@jest/globals';

import { examples } from '../../../src/pages/explorer/examples.ts';
import { startTestApp, type TestApp } from '../../support/test-app.ts';

let app: TestApp;

beforeAll(async () => {
  app = await startTestApp();
  await app.graphql('mutation { createCategory(input: { name: "Dogs" }) { category { id } } }');
});
afterAll(() => app.close());

it.each(
  examples.map(({ query, variables }) => ({ query, variables, name: /(?:query|mutation) (\w+)/.exec(query)?.[1] })),
)('the example $name returns data as it is', async ({ query, variables }) => {
  const { data, errors } = await app.graphql(query, JSON.parse(variables ?? '{}'));
  expect(errors).toEqual([]);
  expect(Object.values(data)).not.toContain(null);
});

it('opens with an example without variables, for GraphiQL shows those of the other tabs only', () => {
  expect(examples[0]!.variables).toBeUndefined();
});
