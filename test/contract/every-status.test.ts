import { describe, expect, it } from '@jest/globals';

import { responsesWhenBroken, responsesWhenLocked, type Responses } from './breakdowns.ts';
import { causes, isImpossible } from './causes.ts';
import { publishedOperations, type Operation } from './document.ts';
import { createResponseCheck, type ReceivedResponse } from './response-check.ts';
import { openStore } from './store.ts';
import { testedNouns } from '../support/nouns/nouns.ts';

const operations = await publishedOperations();
const check = createResponseCheck(operations);
const pairs = operations.flatMap((operation) =>
  Object.keys(operation.responses).map((status) => ({ operation, status, id: operation.operationId })),
);
const asked = pairs.filter(({ operation, status }) => !isImpossible(operation, status));

const breakdowns: Record<string, Responses> = {};

const store = await openStore(operations);
breakdowns['500'] = await responsesWhenBroken(operations, store);
breakdowns['503'] = await responsesWhenLocked(operations, store);
console.log(`${asked.length} of ${pairs.length} pairs of an operation and a status are asked.`);

describe('every operation, in every status that the document lists', () => {
  it.each(asked)('$id responds with $status as documented', async ({ operation, status }) => {
    const responses = await responsesTo(operation, status);
    expect(responses.length).toBeGreaterThan(0);
    expect(responses.map((response) => ({ status: response.status, problems: check(operation, response) }))).toEqual(
      responses.map(() => ({ status: Number(status), problems: [] })),
    );
  });
});

it.each(testedNouns)('every conflict of $noun is documented', ({ collection, file, conflicts = {} }) => {
  const documented = operations.filter(({ responses }) => '409' in responses);
  const missing = Object.keys(conflicts).filter((id) => documented.every(({ operationId }) => operationId !== id));
  const document = `src/rest/openapi/${collection}.yaml`;
  expect(missing.map((id) => `${id} in ${document} lacks 409, which conflicts in ${file} has`)).toEqual([]);
});

describe('a problem of RFC 9457 is as documented:', () => {
  const accept = 'application/problem+json';
  it.each([
    [400, 'listPets', '/pets?limit=0&cursor=x', {}],
    [401, 'listPets', '/pets', { authorization: 'none' }],
    [404, 'getPet', '/pets/4711', {}],
  ])('%i', async (status, id, url, own) => {
    const operation = operations.find(({ operationId }) => operationId === id)!;
    const headers = { ...store.headers, ...own, accept };
    const response = await store.ask({ method: 'GET', url, headers });
    expect([response.status, check(operation, response)]).toEqual([status, []]);
    expect(response.headers['content-type']).toMatch(accept);
  });
});

async function responsesTo(operation: Operation, status: string): Promise<ReceivedResponse[]> {
  const broken = breakdowns[status]?.get(operation.operationId);
  if (broken !== undefined) return [broken];
  const cause = causes[status];
  if (cause === undefined) throw new Error(`test/contract/causes.ts has no cause of ${status}.`);
  return cause(operation, store);
}
