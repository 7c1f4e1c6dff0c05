import { setImmediate as nextTick } from 'node:timers/promises';

import { expect, it } from '@jest/globals';

import { positionStatements } from '../../../src/platform/postgres/replicas/log-position.ts';
import { AsynchronousCommits, ReadIndex } from '../../../src/platform/postgres/replicas/read-index.ts';
import { testCaller } from '../../support/caller.ts';

/** What is asked is sent in a later tick. */
async function sent(): Promise<void> {
  await nextTick();
  await nextTick();
}

/** A primary that responds when the test says so. */
function createIndex() {
  const questions: PromiseWithResolvers<unknown[]>[] = [];
  const read = (): Promise<unknown[]> => {
    const question = Promise.withResolvers<unknown[]>();
    questions.push(question);
    return question.promise;
  };
  const histories: string[] = [];
  const index = new ReadIndex({
    pipeline: { read },
    pool: { run: () => Promise.resolve(histories.push('begun')) as never },
    statements: positionStatements('installation'),
    caller: testCaller,
  });
  const answer = (n: number, bytes: bigint, more: object = {}): void =>
    questions[n]!.resolve([{ bytes, history: '1/a', isOfTimeLine: true, isAsynchronous: false, ...more }]);
  return { index, questions, histories, answer };
}

it('the question is sent after it was asked for: what is asked while one is under way shares the next one', async () => {
  const { index, questions, answer } = createIndex();
  const first = index.ask();
  await sent();
  expect(questions).toHaveLength(1);
  const others = [index.ask(), index.ask()];
  await sent();
  expect(questions).toHaveLength(1);
  answer(0, 1n);
  expect((await first).bytes).toBe(1n);
  await sent();
  expect(questions).toHaveLength(2);
  answer(1, 2n);
  expect((await Promise.all(others)).map(({ bytes }) => bytes)).toEqual([2n, 2n]);
  expect(index.last?.bytes).toBe(2n);
});

it('reads of one tick share a question, and a failed one fails nobody who asks after it was sent', async () => {
  const { index, questions, answer } = createIndex();
  const together = [index.ask(), index.ask()];
  await sent();
  const later = index.ask();
  const settled = Promise.allSettled(together);
  questions[0]!.reject(new Error('lost'));
  expect((await settled).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await sent();
  answer(1, 3n);
  expect((await later).bytes).toBe(3n);
});

it('of a primary with another time line than that of its history it begins one, and asks again', async () => {
  const { index, histories, answer } = createIndex();
  const asked = index.ask();
  await sent();
  answer(0, 5n, { isOfTimeLine: false });
  await sent();
  expect(histories).toEqual(['begun']);
  answer(1, 6n, { history: '1/b' });
  expect(await asked).toMatchObject({ bytes: 6n, history: '1/b' });
});

it('no position covers commits that are seen before they are in the log', async () => {
  const { index, answer } = createIndex();
  const asked = index.ask();
  const failure = expect(asked).rejects.toThrow(AsynchronousCommits);
  await sent();
  answer(0, 7n, { isAsynchronous: true });
  await failure;
});
