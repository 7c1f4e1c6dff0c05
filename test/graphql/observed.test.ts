import { expect, it } from '@jest/globals';

import { until } from '../support/until.ts';
import { startTestApp } from '../support/test-app.ts';

const lines: Record<string, unknown>[] = [];

const write = (line: string): void => void lines.push(JSON.parse(line));
const service = await startTestApp({ LOG_LEVEL: 'info' }, { logStream: { write } });

/** What the line of a request says of its operation; it is written a moment after the response. */
async function logged(query: string, variables?: Record<string, unknown>): Promise<unknown> {
  const { headers } = await service.graphql(query, variables);
  const find = () => lines.find((line) => line['requestId'] === headers['x-request-id'] && 'ms' in line);
  await until(() => find() !== undefined);
  return find()!['graphql'];
}

async function errorsCounted(operation: string, code: string): Promise<number> {
  const { body } = await service.app.server.inject('/metrics');
  const name = `petstore_graphql_errors_total{operation="${operation}",code="${code}"} `;
  return Number(
    body
      .split('\n')
      .find((line) => line.startsWith(name))
      ?.slice(name.length) ?? 0,
  );
}

it('the line of a request has the name, root fields, cost and complexity of its operation and the codes of its errors', async () => {
  expect(await logged('query Mine { a: pets(first: 2) { edges { node { id } } } b: pet(id: 404) { id } }')).toEqual({
    name: 'Mine',
    fields: ['pets', 'pet'],
    cost: 2,
    complexity: 3,
    codes: [],
  });
  expect(
    await logged('{ a: pets(first: -1) { totalCount } b: pets(first: -1) { totalCount } pet(id: 1) { id } }'),
  ).toEqual({ fields: ['pets', 'pet'], cost: 3, complexity: 43, codes: ['BAD_USER_INPUT'] });
  expect(await logged(`query ${'N'.repeat(5000)} { __typename }`)).toMatchObject({
    name: 'N'.repeat(100),
    cost: 1,
    complexity: 0,
  });
  expect(await logged('{ nothing }')).toEqual({ codes: ['GRAPHQL_VALIDATION_FAILED'] });
});

it('errors are counted by root fields and code, never by names that clients choose', async () => {
  // Requests of the suite's own key may be repeated.
  const { secret } = await service.createKey();
  await service.graphql('query Evil { evil: pets(first: -1) { totalCount } }', {}, secret);
  expect(await errorsCounted('query pets', 'BAD_USER_INPUT')).toBe(1);
  await service.graphql('query ($n: Int) { pets(first: $n) { totalCount } }', { n: 'x' }, secret);
  expect(await errorsCounted('query pets', 'BAD_USER_INPUT')).toBe(2);
  const before = await errorsCounted('none', 'GRAPHQL_PARSE_FAILED');
  await service.graphql('{ evil', {}, secret);
  expect(await errorsCounted('none', 'GRAPHQL_PARSE_FAILED')).toBe(before + 1);
  expect((await service.app.server.inject('/metrics')).body).not.toMatch(/evil/i);
});
