import { until } from '../support/until.ts';
import type { Operation } from './document.ts';
import type { ReceivedResponse } from './response-check.ts';
import { type Ask, primaryKeys, type Store } from './store.ts';

const metrics: Ask = { method: 'GET', url: '/metrics', headers: {} };

/** The response of each operation, by its id. */
export type Responses = ReadonlyMap<string, ReceivedResponse>;

/** The responses while no table of a resource has its primary key's column. */
export async function responsesWhenBroken(operations: readonly Operation[], store: Store): Promise<Responses> {
  const requests = await requestsOf(operations, store);
  const columns = (await store.app.sql(primaryKeys)) as { table: string; column: string }[];
  for (const { table, column } of columns) await store.app.sql(`alter table ${table} rename ${column} to broken`);
  const responses: [string, ReceivedResponse][] = [];
  for (const [operationId, request] of requests) responses.push([operationId, await store.ask(request)]);
  for (const { table, column } of columns) await store.app.sql(`alter table ${table} rename broken to ${column}`);
  return new Map(responses);
}

/** The responses while the database doesn't respond, because another transaction has locked all tables of resources. */
export async function responsesWhenLocked(operations: readonly Operation[], store: Store): Promise<Responses> {
  const requests = await requestsOf(operations, store);
  const [[, first] = []] = requests;
  const { waiting, responses } = await store.whileLocked(async () => {
    // The embedded database has one connection: the request that has it waits until the end, all others are refused.
    const holder = store.ask(first!);
    await until(async () => /database_connections\{state="busy"\} [1-9]/.test((await store.ask(metrics)).text));
    const refused = requests.map(async ([id, request]) => [id, await store.ask(request)] as const);
    return { waiting: holder, responses: await Promise.all(refused) };
  });
  await waiting;
  return new Map(responses);
}

async function requestsOf(operations: readonly Operation[], store: Store) {
  return Promise.all(
    operations.map(async (operation) => [operation.operationId, await store.goodRequest(operation)] as const),
  );
}
