import { expect, it } from '@jest/globals';
import { getOperationAST, parse } from 'graphql';

import { deprecatedIn, type SchemaDeprecation } from '../../../src/graphql/deprecations.ts';
import { createSchema, printSortedSchema } from '../../../src/graphql/schema.ts';
import { keysIn } from '../../cli/run-keys.ts';
import { startTestApp } from '../../support/test-app.ts';
import { until } from '../../support/until.ts';

const deprecation = (coordinate: string, sunset: string): SchemaDeprecation => ({
  coordinate,
  reason: 'Use something else.',
  since: new Date('2026-11-01T00:00:00Z'),
  sunset: new Date(sunset),
});
const deprecations = [
  deprecation('Pet.status', '2027-06-01'),
  deprecation('Pet.inventory', '2027-03-01'),
  deprecation('Query.pets(orderBy:)', '2027-04-01'),
  deprecation('PetFilter.categoryIdIn', '2027-05-01'),
  deprecation('PetSortField.NAME', '2027-07-01'),
];
const service = await startTestApp({}, { deprecations });
const { id } = await service.pet();

it('fields, arguments, input fields and enum values are in the SDL with their sunset, and found where an operation uses them', () => {
  const schema = createSchema(deprecations);
  expect(
    printSortedSchema(schema).match(/@deprecated\(reason: "Use something else. Until 2027-\d\d-01."\)/g),
  ).toHaveLength(5);
  const usedBy = (text: string): string[] => {
    const document = parse(text);
    return deprecatedIn({ schema, document, operation: getOperationAST(document, 'A')! }).map(
      (each) => each.coordinate,
    );
  };
  expect(usedBy('query A { pets { nodes { id } } } query B { pets { nodes { status } } }')).toEqual([]);
  expect(
    usedBy('query A { pets { nodes { ...F } } } fragment F on Pet { status s: status inventory { quantity } }'),
  ).toEqual(['Pet.inventory', 'Pet.status']);
  expect(
    usedBy('query A { pets(orderBy: { field: NAME }, filter: { categoryIdIn: ["1"] }) { nodes { id } } }'),
  ).toEqual(['Query.pets(orderBy:)', 'PetFilter.categoryIdIn', 'PetSortField.NAME']);
  expect(() => createSchema([deprecation('Pet.nothing', '2027-01-01')])).toThrow('There is no Pet.nothing');
});

it('a response that uses several names the earliest sunset; others have no such header', async () => {
  const { headers } = await service.graphql('{ pets(first: 1) { nodes { status inventory { quantity } } } }');
  expect(headers['sunset']).toBe('Mon, 01 Mar 2027 00:00:00 GMT');
  expect(headers['deprecation']).toBe(`@${Date.parse('2026-11-01') / 1000}`);
  expect(headers['link']).toBe('</docs/graphql/changelog>; rel="deprecation"; type="text/html"');
  expect((await service.graphql('{ pets(first: 1) { nodes { id } } }')).headers['sunset']).toBeUndefined();
});

it('each use is counted for its key, in both protocols, and shown to it and to administrators', async () => {
  const [one, other] = [
    await service.createKey({ name: 'one', plan: 'business' }),
    await service.createKey({ name: 'other', plan: 'business' }),
  ];
  const query = `{ pet(id: ${id}) { status inventory { quantity } } }`;
  for (let n = 0; n < 3; n += 1) await service.graphql(query, {}, one.secret);
  await service.ask('GET', `/pets/${id}`, undefined, { authorization: `Bearer ${one.secret}` });
  await service.graphql('{ pets { nodes { inventory { quantity } } } }', {}, other.secret);
  const own = `{ viewer { deprecatedUse { coordinate sunset count lastUsedAt } usageHistory(per: DAY) { deprecatedUses } } }`;
  const ownOf = async (secret: string) => (await service.graphql(own, {}, secret)).data.viewer;
  await until(async () => (await ownOf(other.secret)).deprecatedUse.length === 1);
  const { deprecatedUse, usageHistory } = await ownOf(one.secret);
  expect(deprecatedUse).toMatchObject([
    { coordinate: 'GET /pets/{petId}', sunset: '2030-12-05T00:00:00.000Z', count: 1 },
    { coordinate: 'Pet.inventory', sunset: '2027-03-01T00:00:00.000Z', count: 3 },
    { coordinate: 'Pet.status', count: 3 },
  ]);
  expect((usageHistory as { deprecatedUses: number }[]).at(-1)).toEqual({ deprecatedUses: 7 });
  const users = `query ($after: String) { deprecatedUse(coordinate: "Pet.inventory", first: 1, after: $after) {
    nodes { apiKey { name } count } pageInfo { hasNextPage endCursor } } }`;
  const first = (await service.graphql(users)).data.deprecatedUse;
  expect(first).toMatchObject({ nodes: [{ apiKey: { name: 'other' }, count: 1 }], pageInfo: { hasNextPage: true } });
  const next = await service.graphql(users, { after: first.pageInfo.endCursor });
  expect(next.errors).toEqual([]);
  const second = next.data.deprecatedUse;
  expect(second).toMatchObject({ nodes: [{ apiKey: { name: 'one' }, count: 3 }] });
  expect((await service.graphql(users, {}, one.secret)).codes).toEqual(['FORBIDDEN']);
  const { stdout } = await keysIn(service.environment, 'deprecated', '--json');
  expect(JSON.parse(stdout)).toContainEqual(
    expect.objectContaining({ coordinate: 'Pet.inventory', keyName: 'one', count: 3 }),
  );
});
