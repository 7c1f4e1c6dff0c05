import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';

import { anyRequest, toJson, validValue } from './arbitraries.ts';
import { publishedOperations } from './document.ts';
import { createResponseCheck, parseExactly } from './response-check.ts';
import { openStore } from './store.ts';

const operations = await publishedOperations();
const check = createResponseCheck(operations);

const store = await openStore(operations);

describe('any request', () => {
  it.each(operations)('$operationId gets a documented response, and never an internal error', async (operation) => {
    await fc.assert(
      fc.asyncProperty(anyRequest(operation, store.headers), async (request) => {
        const response = await store.ask(request);
        expect(response.status).toBeLessThan(500);
        expect(check(operation, response)).toEqual([]);
      }),
      { numRuns: 100 },
    );
  });
});

describe('a body that the document allows', () => {
  // What an action does with its body is its own.
  const bodied = operations.filter(
    ({ body, isCreation, method }) => body !== undefined && (isCreation || method !== 'POST'),
  );

  it.each(bodied)(
    '$operationId returns it as it was sent, unless a rule or the state forbids it',
    async (operation) => {
      const { body: good, ...request } = await store.goodRequest(operation);
      const there = Object.entries(parseExactly(good!) as object).filter(([name]) => name.endsWith('Id'));
      let taken = 0;
      await fc.assert(
        fc.asyncProperty(validValue(operation.body!), async (value) => {
          const body = { ...(value as object), ...Object.fromEntries(there) };
          const { status, text } = await store.ask({ ...request, body: toJson(body) });
          if (status >= 400) return expect(text).toMatch(refusalOf(body));
          taken += 1;
          expect(trimmed(parseExactly(text) as object)).toMatchObject(trimmed(kept(body)));
          return undefined;
        }),
      );
      if (taken <= 10)
        throw new Error(`Of 100 bodies ${taken} were taken: are the examples of the document's texts valid?`);
    },
  );
});

/**
 * Why a body that the document allows may be refused: a text that is white space alone or has control characters or
 * halves of surrogate pairs, or an order that is complete already.
 */
function refusalOf(body: object): RegExp {
  const texts = Object.entries(body).filter(([, value]) => typeof value === 'string');
  return new RegExp(`"message":"(?:${texts.map(([name]) => name).join('|')}): must|a complete order stays complete`);
}

/** The fields that a response must have of a body: nothing of what is null. */
function kept(body: object): object {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
}

/** Texts without the white space around them, which names lose. */
function trimmed(body: object): object {
  const fields = Object.entries(body);
  return Object.fromEntries(fields.map(([name, value]) => [name, typeof value === 'string' ? value.trim() : value]));
}
