import type { Operation } from './document.ts';
import type { Answer } from './response-check.ts';
import type { Store } from './store.ts';

/** What every operation answers by its id. */
export type Answers = ReadonlyMap<string, Answer>;

/** A column of each table that no operation can do without. */
const columns = [
  ['categories', 'id'],
  ['pets', 'id'],
  ['orders', 'id'],
  ['inventory', 'pet_id'],
];

/** What is answered while the tables are not what the program believes. */
export async function answersWhenBroken(operations: readonly Operation[], store: Store): Promise<Answers> {
  const requests = await requestsOf(operations, store);
  for (const [table, column] of columns) await store.app.sql(`alter table ${table} rename ${column} to broken`);
  const answers: [string, Answer][] = [];
  for (const [operationId, request] of requests) answers.push([operationId, await store.ask(request)]);
  for (const [table, column] of columns) await store.app.sql(`alter table ${table} rename broken to ${column}`);
  return new Map(answers);
}

/** What is answered while the database doesn't answer, because somebody else's transaction has all of it. */
export async function answersWhenLocked(operations: readonly Operation[], store: Store): Promise<Answers> {
  const requests = await requestsOf(operations, store);
  const answers = await store.whileLocked(async () => {
    // The embedded database has one connection: whoever has it waits until the end, and everybody else is sent away before.
    const [[, first] = []] = requests;
    await Promise.race([store.ask(first!), store.ask(first!)]);
    return Promise.all(requests.map(async ([id, request]) => [id, await store.ask(request)] as const));
  });
  return new Map(answers);
}

async function requestsOf(operations: readonly Operation[], store: Store) {
  return Promise.all(
    operations.map(async (operation) => [operation.operationId, await store.goodRequest(operation)] as const),
  );
}
