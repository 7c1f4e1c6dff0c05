import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { answersWhenBroken, answersWhenLocked, type Answers } from './breakdowns.ts';
import { causes, isImpossible } from './causes.ts';
import { publishedOperations, type Operation } from './document.ts';
import { createResponseCheck, type Answer } from './response-check.ts';
import { openStore, type Store } from './store.ts';

const operations = await publishedOperations();
const check = createResponseCheck(operations);
const pairs = operations.flatMap((operation) =>
  Object.keys(operation.responses).map((status) => ({ operation, status, id: operation.operationId })),
);
const asked = pairs.filter(({ operation, status }) => !isImpossible(operation, status));

let store: Store;
const breakdowns: Record<string, Answers> = {};

beforeAll(async () => {
  store = await openStore(operations);
  breakdowns['500'] = await answersWhenBroken(operations, store);
  breakdowns['503'] = await answersWhenLocked(operations, store);
});
afterAll(async () => {
  await store.close();
  console.log(`${asked.length} of ${pairs.length} pairs of an operation and a status were asked.`);
});

describe('every operation, in every status that the document lists', () => {
  it.each(asked)('$id answers $status as documented', async ({ operation, status }) => {
    const answers = await answersOf(operation, status);
    expect(answers.length).toBeGreaterThan(0);
    expect(answers.map((answer) => ({ status: answer.status, problems: check(operation, answer) }))).toEqual(
      answers.map(() => ({ status: Number(status), problems: [] })),
    );
  });
});

async function answersOf(operation: Operation, status: string): Promise<Answer[]> {
  const broken = breakdowns[status]?.get(operation.operationId);
  return broken === undefined ? causes[status]!(operation, store) : [broken];
}
