import { expect, it } from '@jest/globals';

import { type NounName, nounNames, nouns, referencesOf } from '../../src/domain/nouns.ts';
import { publishedOperations } from '../contract/document.ts';
import { openStore } from '../contract/store.ts';
import { operations, type Operation } from '../parity/operations.ts';
import { testedNouns } from '../support/nouns/nouns.ts';
import { startCluster } from '../support/started-cluster.ts';

/*
 * On a server: the embedded database has one session, so transactions never wait for each other's rows.
 */
const cluster = await startCluster();
// A circle is found, and written to the log, before the deadline of a transaction.
await cluster.sql("alter system set deadlock_timeout = '100ms'");
await cluster.sql('select pg_reload_conf()');

const published = await publishedOperations();
const store = await openStore(published, { DATABASE_URL: cluster.url, DATABASE_POOL: '8' });

type Ids = Readonly<Record<string, string>>;
type Fields = Readonly<Record<string, unknown>>;

interface Call {
  readonly name: string;
  readonly input: Fields;
}

/** Each sends both, one by one and together. */
const clients = 3;
const rounds = 2;
const pairs = operations.flatMap((one, index) => operations.slice(index).map((other) => ({ one, other })));
/** A new row of each noun, which names those of the others; by noun. */
async function newRows(): Promise<Ids> {
  const ids: Record<string, string> = {};
  const create = async (noun: NounName): Promise<string> => {
    const named: Record<string, number> = {};
    for (const [field, other] of Object.entries(referencesOf(noun)))
      named[field] = Number(ids[other] ?? (await create(other)));
    const body = await store.creationOf(nouns[noun].path);
    // A stock comes with its pet, and has its id.
    const id =
      body === undefined ? named['petId'] : (await store.create(nouns[noun].path, { ...body, ...named }))['id'];
    return (ids[noun] = String(id));
  };
  for (const noun of nounNames) if (ids[noun] === undefined) await create(noun);
  return ids;
}

/** The operation on these rows, with the body that the document has as its example. */
async function callOf({ name, idField, url }: Operation, ids: Ids): Promise<Call> {
  const { body } = await store.goodRequest(published.find(({ operationId }) => operationId === name)!);
  const input = JSON.parse(body ?? '{}', (field, value: unknown) => {
    const noun = nounNames.find((each) => field === `${each}Id`);
    if (noun !== undefined) return ids[noun];
    return field === 'status' ? String(value).toUpperCase() : value;
  }) as Fields;
  const own = nounNames.find((noun) => url.startsWith(`${nouns[noun].path}/`));
  if (own === undefined || idField === undefined) return { name, input };
  const { ready = {}, file = '' } = testedNouns.find(({ path }) => path === nouns[own].path) ?? {};
  await store.prepare(ready[name] ?? [], { ...input, id: ids[own] }, `ready in ${file}`);
  return { name, input: { ...input, [idField]: ids[own] } };
}

/** The messages of its failures, of those that say it has waited in a circle. What waits long for others is only busy. */
async function send(directive: string, calls: readonly Call[]): Promise<string[]> {
  const types = calls.map(({ name }, n) => `$v${n}: ${name[0]!.toUpperCase()}${name.slice(1)}Input!`);
  const fields = calls.map(({ name }, n) => `f${n}: ${name}(input: $v${n}) { __typename }`);
  const variables = Object.fromEntries(calls.map(({ input }, n) => [`v${n}`, input]));
  const { errors } = await store.app.graphql(
    `mutation (${types.join()}) ${directive} { ${fields.join(' ')} }`,
    variables,
  );
  return errors.map(({ message }) => message).filter((message) => message.includes('waited for each other'));
}

const deadlocks = (): number => cluster.log.split('deadlock detected').length - 1;

it.each(pairs)(
  '$one.name and $other.name on the same rows wait for each other, and never each for the other',
  async ({ one, other }) => {
    const before = deadlocks();
    const failed: string[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const ids = await newRows();
      const calls = [await callOf(one, ids), await callOf(other, ids)];
      const together = [calls, calls.toReversed()].map((both) => () => send('@atomic', both));
      const ways = [...calls.map((call) => () => send('', [call])), ...together];
      const sent = Array.from({ length: clients }, () => ways.map((way) => way()));
      failed.push(...(await Promise.all(sent.flat())).flat());
    }
    expect({ failed, deadlocks: deadlocks() - before }).toEqual({ failed: [], deadlocks: 0 });
  },
);
