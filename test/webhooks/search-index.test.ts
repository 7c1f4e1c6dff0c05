import { expect, it } from '@jest/globals';

import { SeededRandom } from '../support/seeded-random.ts';
import type { TestApp } from '../support/test-app.ts';
import { until } from '../support/until.ts';
import { change, create, endpoint, startStore } from './endpoints.ts';
import { Inbox, type ReceivedEvent } from './inbox.ts';

const seed = Number(process.env['WEBHOOK_SEED'] ?? 1);
const random = new SeededRandom(seed);

/** What the guide tells a receiver to do: see "Keep a search index right" there. */
class SearchIndex {
  /** By their paths. */
  readonly rows = new Map<string, unknown>();
  isAway = false;
  readonly #ids = new Set<string>();
  /** Until the lists were walked. */
  #stored: ReceivedEvent[] | undefined = [];

  receive(event: ReceivedEvent): number {
    if (this.isAway) return 503;
    if (this.#ids.has(event.id)) return 204;
    this.#ids.add(event.id);
    if (this.#stored === undefined) this.#apply(event);
    else this.#stored.push(event);
    return 204;
  }

  async walk(store: TestApp): Promise<void> {
    for (let page: string | undefined = '/pets?limit=3'; page !== undefined;) {
      const { body, headers } = await store.ask('GET', page);
      for (const row of body as readonly { readonly id: number }[]) this.rows.set(`/pets/${row.id}`, row);
      page = /<([^>]+)>; rel="next"/.exec(headers['link'] ?? '')?.[1];
    }
    for (const event of this.#stored ?? []) this.#apply(event);
    this.#stored = undefined;
  }

  #apply({ type, data }: ReceivedEvent): void {
    const resource = String(data['resource']);
    if (type === 'pet.deleted') this.rows.delete(resource);
    else this.rows.set(resource, data['object']);
  }
}

/** Changes, creations and deletions of pets, with somebody else's among them. */
async function write(store: TestApp, categoryId: number, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    const { body } = await store.ask('GET', '/pets?limit=100');
    const pets = body as readonly { readonly id: number }[];
    const { id } = pets[random.below(pets.length)]!;
    const kind = random.below(4);
    if (kind === 0) await store.ask('POST', '/pets', { name: `New ${index}`, categoryId });
    else if (kind === 1 && pets.length > 8) await store.ask('DELETE', `/pets/${id}`);
    else if (kind === 2) await store.sql(`update pets set name = 'Past ${index}' where id % 3 = ${random.below(3)}`);
    else await store.ask('PATCH', `/pets/${id}`, { name: `Changed ${index}` });
  }
}

it(`an index that does as the guide says is right after an outage, and after a replay (seed ${seed})`, async () => {
  const index = new SearchIndex();
  const inbox = await Inbox.start((event) => index.receive(event));
  const store = await startStore([inbox]);
  const categoryId = await store.category();
  for (let count = 0; count < 15; count += 1) await store.ask('POST', '/pets', { name: `Pet ${count}`, categoryId });
  const { data } = await store.graphql('{ eventCursor }');
  const after: unknown = data.eventCursor;
  const writing = write(store, categoryId, 30);
  const eventTypes = ['PET_CREATED', 'PET_UPDATED', 'PET_DELETED'];
  const { id } = await create(store, inbox, { after, eventTypes, maxInFlight: 16 });
  await index.walk(store);
  await writing;

  index.isAway = true;
  const missed = inbox.requests.length;
  await write(store, categoryId, 30);
  await until(() => inbox.requests.length > missed);
  index.isAway = false;
  await change(store, 'resumeWebhookEndpoint', { id });
  const writingAgain = write(store, categoryId, 20);
  expect(await change(store, 'replayWebhookEndpoint', { id, after })).toMatchObject({ errors: [] });
  await writingAgain;

  const backlog = async (): Promise<unknown> => {
    const { position, backlog: waiting } = await endpoint(store, id, 'position backlog { events }');
    const { data: log } = await store.graphql('{ eventCursor }');
    return position === log.eventCursor && JSON.stringify(waiting) === '{"events":0}';
  };
  await until(async () => (await backlog()) === true, { maxMillis: 60_000 });
  expect(inbox.requests.some(({ headers }) => headers['webhook-replay'] === '1')).toBe(true);
  const { body } = await store.ask('GET', '/pets?limit=100');
  const pets = body as readonly { readonly id: number }[];
  expect(Object.fromEntries(index.rows)).toEqual(Object.fromEntries(pets.map((pet) => [`/pets/${pet.id}`, pet])));
});
