import { setImmediate as nextTick } from 'node:timers/promises';

import { expect, it } from '@jest/globals';

import { positionStatements } from '../../../src/platform/postgres/replicas/log-position.ts';
import { ReadIndex } from '../../../src/platform/postgres/replicas/read-index.ts';
import { until } from '../../support/until.ts';

const statements = positionStatements('installation');

interface Question {
  /** What was asked, by the names of the statements. */
  readonly asked: readonly string[];
  readonly answer: (...rows: object[]) => void;
  readonly fail: (error: Error) => void;
}

/** A primary that responds when the test says so. */
function createIndex({ isBehindPooler = false } = {}) {
  const questions: Question[] = [];
  const connections: { isLost: boolean; isCurrent: boolean }[] = [];
  const open = () => {
    const connection = {
      isLost: false,
      isCurrent: true,
      session: { isBehindPooler },
      destroy: () => (connection.isLost = true),
      run: (queries: readonly { readonly statement: object }[]) => {
        const { promise, resolve, reject } = Promise.withResolvers<unknown[][]>();
        const asked = queries.map(({ statement }) => namesOf.get(statement)!);
        questions.push({ asked, answer: (...rows) => resolve(rows.map((row) => [row])), fail: reject });
        return promise;
      },
    };
    connections.push(connection);
    return Promise.resolve(connection);
  };
  const sent = (count: number): Promise<void> => until(() => questions.length === count);
  return { index: new ReadIndex(open, statements), questions, connections, sent };
}

const namesOf = new Map<object, string>(Object.entries(statements).map(([name, statement]) => [statement, name]));

function at(bytes: bigint, isAsynchronous = false): object {
  return { bytes, isAsynchronous };
}

const known = { history: '1/a', isOfTimeLine: true };

it('the question is sent after it was asked for: what is asked while one is under way shares the next one', async () => {
  const { index, questions, sent } = createIndex();
  const first = index.ask();
  await sent(1);
  const others = [index.ask(), index.ask()];
  await nextTick();
  expect(questions).toHaveLength(1);
  questions[0]!.answer(at(1n), known);
  expect((await first).bytes).toBe(1n);
  await sent(2);
  questions[1]!.answer(at(2n));
  expect((await Promise.all(others)).map(({ bytes }) => bytes)).toEqual([2n, 2n]);
  expect(index.last?.bytes).toBe(2n);
});

it('reads of one tick share a question, and a failed one fails nobody who asks after it was sent', async () => {
  const { index, questions, connections, sent } = createIndex();
  const together = [index.ask(), index.ask()];
  await sent(1);
  const later = index.ask();
  const settled = Promise.allSettled(together);
  questions[0]!.fail(new Error('lost'));
  expect((await settled).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await sent(2);
  expect(connections).toHaveLength(2);
  questions[1]!.answer(at(3n), known);
  expect((await later).bytes).toBe(3n);
});

it('of a primary with another time line than that of its history it begins one, and asks again', async () => {
  const { index, questions, sent } = createIndex();
  const asked = index.ask();
  await sent(1);
  questions[0]!.answer(at(5n), { ...known, isOfTimeLine: false });
  await sent(2);
  expect(questions[1]!.asked).toEqual(['beginHistory']);
  questions[1]!.answer();
  await sent(3);
  questions[2]!.answer(at(6n), { ...known, history: '1/b' });
  expect(await asked).toEqual({ bytes: 6n, history: '1/b' });
});

it.each([
  ['asks a connection for the history once', { isBehindPooler: false }, ['flushed']],
  ['asks for it with each position behind a pooler', { isBehindPooler: true }, ['flushed', 'history']],
])('%s, and another connection anew', async (_, session, expected) => {
  const { index, questions, connections, sent } = createIndex(session);
  const ask = async (count: number): Promise<readonly string[]> => {
    const asked = index.ask();
    await sent(count);
    questions[count - 1]!.answer(at(1n), known);
    await asked;
    return questions[count - 1]!.asked;
  };
  expect(await ask(1)).toEqual(['flushed', 'history']);
  expect(await ask(2)).toEqual(expected);
  connections[0]!.isCurrent = false;
  expect(await ask(3)).toEqual(['flushed', 'history']);
});

it('no position covers commits that are seen before they are in the log', async () => {
  const { index, questions, sent } = createIndex();
  const failure = expect(index.ask()).rejects.toMatchObject({ reason: 'asynchronous' });
  await sent(1);
  questions[0]!.answer(at(7n, true), known);
  await failure;
});
