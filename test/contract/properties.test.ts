import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';

import { anyRequest, toJson, validValue } from './arbitraries.ts';
import { publishedOperations } from './document.ts';
import { createResponseCheck, parseExactly } from './response-check.ts';
import { openStore, type Ask, type Store } from './store.ts';

const operations = await publishedOperations();
const check = createResponseCheck(operations);

let store: Store;
let headers: Ask['headers'];

beforeAll(async () => {
  store = await openStore(operations);
  headers = await store.keys.unlimited();
});
afterAll(() => store.close());

describe('whatever is asked', () => {
  it.each(operations)('$operationId gives a documented answer, and never fails itself', async (operation) => {
    await fc.assert(
      fc.asyncProperty(anyRequest(operation, headers), async (request) => {
        const answer = await store.ask(request);
        expect(answer.status).toBeLessThan(500);
        expect(check(operation, answer)).toEqual([]);
      }),
      { numRuns: 150 },
    );
  });
});

describe('whatever is right by the document', () => {
  const bodied = operations.filter(({ body }) => body !== undefined);

  it.each(bodied)(
    '$operationId answers it as it was given, unless its words or the state forbid it',
    async (operation) => {
      const { body: good, ...request } = await store.goodRequest(operation);
      const there = Object.entries(parseExactly(good!) as object).filter(([name]) => name.endsWith('Id'));
      let taken = 0;
      await fc.assert(
        fc.asyncProperty(validValue(operation.body!), async (value) => {
          const body = { ...(value as object), ...Object.fromEntries(there) };
          const { status, text } = await store.ask({ ...request, body: toJson(body) });
          if (status >= 400) return expect(text).toMatch(refusal);
          taken += 1;
          expect(parseExactly(text)).toMatchObject(kept(body));
          return undefined;
        }),
      );
      expect(taken).toBeGreaterThan(10);
    },
  );
});

/** White space alone, control characters, halves of surrogate pairs, and an order that is complete already. */
const refusal = /"message":"(?:name|description): must|a complete order stays complete/;

/** What an answer has to say of a body: names without the white space around them, and nothing of what is null. */
function kept(body: object): object {
  const fields = Object.entries(body).filter(([, value]) => value !== null);
  return Object.fromEntries(fields.map(([name, value]) => [name, name === 'name' ? String(value).trim() : value]));
}
