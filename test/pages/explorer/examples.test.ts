import { expect, it } from '@jest/globals';
import { parse, validate } from 'graphql';

import { createSchema } from '../../../src/graphql/schema.ts';
import { examples } from '../../../src/pages/explorer/examples.ts';
import { startTestApp } from '../../support/test-app.ts';

const app = await startTestApp({ WEBHOOK_SIGNING_KEY: 'a'.repeat(64) });
await app.graphql(
  'mutation { createCategory(input: { name: "Dogs" }) { category { id } } createPet(input: { name: "Rex", categoryId: 1 }) { pet { id } } }',
);

const isSubscription = ({ query }: { readonly query: string }): boolean => /^subscription /m.test(query);

it.each(examples.filter(isSubscription))('the example "$purpose" is valid', ({ query }) => {
  expect(validate(createSchema(), parse(query))).toEqual([]);
});

it.each(
  examples
    .filter((example) => !isSubscription(example))
    .map(({ query, variables }) => ({ query, variables, name: /(?:query|mutation) (\w+)/.exec(query)?.[1] })),
)('the example $name returns data as it is', async ({ query, variables }) => {
  const { data, errors } = await app.graphql(query, JSON.parse(variables ?? '{}'));
  expect(errors).toEqual([]);
  expect(Object.values(data)).not.toContain(null);
});

it('opens with an example without variables, for GraphiQL shows those of the other tabs only', () => {
  expect(examples[0]!.variables).toBeUndefined();
});

it('opens with lines that fit between the documentation and the result on a screen of 1,400 px', () => {
  const longest = Math.max(...examples[0]!.query.split('\n').map(({ length }) => length));
  expect(longest).toBeLessThanOrEqual(37);
});

it('the documentation lists the nouns of the store first, and what concerns keys last', async () => {
  const { data } = await app.graphql('{ __schema { queryType { fields { name } } } }');
  const { fields } = (data['__schema'] as { queryType: { fields: { name: string }[] } }).queryType;
  const nouns = ['pets', 'categories', 'orders', 'inventory', 'viewer', 'apiKeys'];
  expect(fields.map(({ name }) => name).filter((name) => nouns.includes(name))).toEqual(nouns);
});
