import { describe, expect, it } from '@jest/globals';

import { eventStream, openStream } from './graphql/streams/stream-client.ts';
import { startTestApp } from './support/test-app.ts';
import { until } from './support/until.ts';

/**
 * A process of this version beside what the next one writes: events of a noun that this one lacks, and values that it
 * doesn't know.
 */

const app = await startTestApp({ PORT: '0', LOG_LEVEL: 'warn' });
const address = await app.app.listen();
// As the next version's migration may do while this one runs.
await app.sql('alter table pets drop constraint pets_check');

/** In the log, as the sequencer of the next version would leave them. */
const newerEvents = [
  ['voucher.created', '{"id":1,"name":"Acme"}'],
  ['pet.adopted', '{"id":1}'],
  ['constructor.created', '{"id":1}'],
  ['pet.updated', null],
  ['pet.updated', 'null'],
  ['pet.updated', '{"id":1,"name":"Rex","status":"fostered","category_id":1}'],
  ['pet.updated', '{"id":1,"name":"Rex","status":"available","category_id":null}'],
  ['order.created', '{"id":1,"complete":false,"ship_date":"whenever"}'],
  ['pet.updated', '[{"id":1}]'],
  ['pet.updated', `{"id":${'['.repeat(5_000)}${']'.repeat(5_000)}}`],
] as const;

/** Through the outbox, under names that no sequencer knows. */
async function insertEvents(events: readonly (readonly [type: string, body: string | null])[]): Promise<void> {
  const names = events.map((_, index) => `next.${index}`);
  await app.sql('insert into event_outbox (type, object_id) select name, 1 from unnest($1::text[]) as name', [names]);
  await until(async () => (await app.sql(`select from events where type like 'next.%'`)).length === names.length);
  const [types, bodies] = [events.map(([type]) => type), events.map(([, body]) => body)];
  await app.sql(
    `update events set type = new.type, body = new.body::json
     from unnest($1::text[], $2::text[], $3::text[]) as new (name, type, body) where events.type = name`,
    [names, types, bodies],
  );
}

/** Of each kind a value, as JSON has it. */
const valuesOfKinds = {
  text: '"Rex"',
  number: '"5"',
  instant: '"2026-12-24T10:00:00+00:00"',
  boolean: 'true',
  int: '5',
  bigint: '99999999999',
  huge: '9223372036854775808',
  longest: '9'.repeat(40),
  fraction: '1.5',
  object: '{"id":1}',
  list: '["available"]',
};
type Kind = keyof typeof valuesOfKinds;
const texts: readonly Kind[] = ['text', 'number', 'instant'];
const int64s: readonly Kind[] = ['int', 'bigint'];
/** The columns of each noun, and the kinds that they take. */
const kindsOfColumns: Readonly<Record<string, Readonly<Record<string, readonly Kind[]>>>> = {
  category: { id: int64s, name: texts, description: texts },
  pet: { id: int64s, name: texts, status: [], category_id: int64s },
  order: { id: int64s, pet_id: int64s, quantity: ['int'], ship_date: ['instant'], complete: ['boolean'] },
  inventory: { pet_id: int64s, quantity: ['int'], status: [] },
};

async function follow(start: string, last: string): Promise<Record<string, unknown>[]> {
  const found: Record<string, unknown>[] = [];
  let next = start;
  await until(async () => {
    const { status, body, headers } = await app.ask('GET', next);
    expect(status).toBe(200);
    found.push(...body);
    next = /^<([^>]+)>/.exec(headers['link'] ?? '')?.[1] ?? '';
    return found.some(({ resource }) => resource === last);
  });
  return found;
}

describe('events of a newer version', () => {
  it('are store.resync over REST, GraphQL and open streams, which go on', async () => {
    const { headers } = await app.ask('GET', '/events?cursor=now');
    const start = /^<([^>]+)>/.exec(headers['link'] ?? '')?.[1] ?? '';
    const after = new URL(start, address).searchParams.get('cursor');
    await insertEvents(newerEvents);
    await app.sql(`update events set at = 'infinity' where type = 'voucher.created'`);
    await app.sql(`update events set at = '-infinity' where type = 'pet.adopted'`);
    await app.sql(`update events set body = to_json(repeat('x', 17000000)) where type = 'constructor.created'`);
    const query = 'subscription($after: ID) { events(after: $after) { type at nodeId object { nodeId } } }';
    const stream = await openStream(address, app.key, { query, variables: { after } }, eventStream);
    await app.sql(`insert into event_outbox (type, object_id) values ('voucher.deleted', 1)`);
    const id = await app.category();

    const events = await follow(start, `/categories/${id}`);
    const resync = Array.from({ length: newerEvents.length + 1 }, () => 'store.resync');
    expect(events.map(({ type }) => type)).toEqual([...resync, 'category.created']);
    for (const { resource, version, object } of events.slice(0, -1)) {
      expect([resource, version, object]).toEqual([undefined, undefined, undefined]);
    }
    for (const [type, count] of [
      ['store.resync', resync.length],
      ['category.created', 1],
      ['pet.updated', 0],
    ] as const) {
      expect((await app.ask('GET', `${start}&type=${type}`)).body).toHaveLength(count);
    }

    const { data, errors } = await app.graphql(
      'query($after: ID!) { events(after: $after) { nodes { type at nodeId } } }',
      {
        after,
      },
    );
    expect(errors).toEqual([]);
    expect((data.events.nodes as { type: string }[]).map(({ type }) => type)).toEqual([
      ...resync.map(() => 'STORE_RESYNC'),
      'CATEGORY_CREATED',
    ]);
    await stream.until(resync.length + 1);
    expect(stream.results().map(({ data: { events: event }, errors: failures }) => [event.type, failures])).toEqual([
      ...resync.map(() => ['STORE_RESYNC', undefined]),
      ['CATEGORY_CREATED', undefined],
    ]);
    expect(stream.isEnded()).toBe(false);
    stream.close();
  });

  it('are store.resync with a value of another kind in any column, and are shown in full with those of its kinds', async () => {
    const events = Object.entries(kindsOfColumns).flatMap(([noun, columns]) => {
      const good = Object.entries(columns).map(([column, [kind]]) => [
        column,
        kind === undefined ? '"sold"' : valuesOfKinds[kind],
      ]);
      return Object.entries(columns).flatMap(([column, kinds]) =>
        Object.entries(valuesOfKinds).map(([kind, value]) => {
          const members = good.map(([name, own]) => `"${name}":${name === column ? value : own}`);
          const isRight = (kinds as readonly string[]).includes(kind);
          return {
            type: `${noun}.updated`,
            body: `{${members.join()}}`,
            shown: isRight ? `${noun}.updated` : 'store.resync',
          };
        }),
      );
    });
    const { headers } = await app.ask('GET', '/events?cursor=now');
    const start = /^<([^>]+)>/.exec(headers['link'] ?? '')?.[1] ?? '';
    await insertEvents(events.map(({ type, body }) => [type, body]));
    const found = await follow(start, `/categories/${await app.category()}`);
    const shown = events.map((event) => event.shown);
    expect(found.slice(0, -1).map(({ type }) => type)).toEqual(shown);
    let after = new URL(start, address).searchParams.get('cursor');
    const types: string[] = [];
    const fields = `... on Pet { id name status categoryId } ... on Category { id name description }
      ... on Order { id petId quantity shipDate complete } ... on InventoryItem { of: petId stock: quantity status }`;
    while (types.length <= shown.length) {
      const { data, errors } = await app.graphql(
        `query($after: ID!) { events(after: $after, first: 100) { nodes { type object { nodeId ${fields} } } pageInfo { endCursor } } }`,
        { after },
      );
      expect(errors).toEqual([]);
      types.push(...(data.events.nodes as { type: string }[]).map(({ type }) => type));
      after = data.events.pageInfo.endCursor;
    }
    expect(types.slice(0, -1)).toEqual(shown.map((type) => type.toUpperCase().replace('.', '_')));
  });
});

describe('a row with a value of a newer version', () => {
  it('costs only the requests that need it, with 503', async () => {
    const [known, newer] = [await app.pet({ name: 'Rex' }), await app.pet({ name: 'Fox' })];
    await app.sql(`update pets set status = 'fostered' where id = $1`, [newer.id]);

    const together = await Promise.all([known, newer, known].map(({ id }) => app.ask('GET', `/pets/${id}`)));
    expect(together.map(({ status }) => status)).toEqual([200, 503, 200]);
    expect(together[0]?.body).toEqual(known);
    expect(together[1]?.body.code).toBe('unavailable');
    expect(together[1]?.headers['retry-after']).toBeDefined();
    expect((await app.ask('GET', `/pets?id=${known.id},${newer.id}`)).status).toBe(503);
    expect((await app.ask('PATCH', `/pets/${newer.id}`, { name: 'Vix' })).status).toBe(503);
    expect((await app.ask('GET', `/inventory/${newer.id}`)).status).toBe(503);

    const { data, errors } = await app.graphql(
      'query($a: ID!, $b: ID!) { known: pet(id: $a) { name } newer: pet(id: $b) { name } }',
      { a: known.id, b: newer.id },
    );
    expect(data).toEqual({ known: { name: 'Rex' }, newer: null });
    expect(errors.map(({ path, extensions: { code } }) => [path, code])).toEqual([[['newer'], 'SERVICE_UNAVAILABLE']]);
    expect((await app.ask('GET', `/pets/${known.id}`)).body).toEqual(known);
  });
});

describe('a write of a row with such a value', () => {
  it.each([
    ['with an Idempotency-Key', ''],
    ['in @atomic', '@atomic '],
  ])('is undone %s, and carried out by the same request once the row can be read', async (_where, directive) => {
    const { id } = await app.pet({ name: 'Fox' });
    await app.sql(`update pets set status = 'fostered' where id = $1`, [id]);
    const key = { 'idempotency-key': `${directive}${id}` };
    const update = `mutation ${directive}{ updatePet(input: { id: ${id}, name: "Vix" }) { pet { name status } } }`;
    const write = () => app.graphql(update, {}, app.key, key);
    const { data, codes } = await write();
    expect([data, codes]).toEqual([undefined, ['SERVICE_UNAVAILABLE']]);
    const name = async () => (await app.sql('select name from pets where id = $1', [id]))[0];
    expect(await name()).toEqual({ name: 'Fox' });
    await app.sql(`update pets set status = 'sold' where id = $1`, [id]);
    for (const isReplay of [false, true]) {
      const written = await write();
      expect(written.data).toEqual({ updatePet: { pet: { name: 'Vix', status: 'SOLD' } } });
      expect(written.replayed).toEqual(isReplay ? ['updatePet'] : []);
    }
  });
});

describe('a key with a scope of a newer version', () => {
  const withScopes = async (scopes: string) => {
    await app.sql('alter table api_keys drop constraint if exists api_keys_scopes_check');
    const { id, secret } = await app.createKey({ plan: 'pro' });
    await app.sql('update api_keys set scopes = $2 where id = $1', [id, scopes]);
    const viewed = async (): Promise<string[]> =>
      (await app.graphql('{ viewer { scopes } }', {}, secret)).data.viewer.scopes;
    await until(async () => !(await viewed()).includes('WRITE'));
    return { id, secret, viewed };
  };

  it('may do what its others allow', async () => {
    const { id, secret, viewed } = await withScopes('{fly,read,constructor}');
    expect(await viewed()).toEqual(['READ']);
    const headers = { authorization: `Bearer ${secret}` };
    expect((await app.ask('GET', '/categories?limit=1', undefined, headers)).status).toBe(200);
    const refused = await app.ask('POST', '/categories', { name: 'x' }, headers);
    expect([refused.status, refused.body.message]).toEqual([
      403,
      'This needs a key with the scope write, but yours has fly, read, constructor.',
    ]);
    expect((await app.graphql(`{ apiKey(id: ${id}) { scopes } }`)).data.apiKey.scopes).toEqual(['READ']);
  });

  it('may do nothing without another one', async () => {
    const { secret, viewed } = await withScopes('{fly}');
    expect(await viewed()).toEqual([]);
    expect((await app.graphql('{ pets { nodes { id } } }', {}, secret)).codes).toEqual(['FORBIDDEN']);
    const subscription = { query: 'subscription { events { id } }' };
    expect((await openStream(address, secret, subscription, eventStream)).status).toBe(403);
  });
});

describe('a key with a plan of a newer version', () => {
  it('is 503, once in the log; other keys change, are revoked and made as ever', async () => {
    const checks = await app.sql(
      `select conname as name from pg_constraint where conrelid = 'api_keys'::regclass and contype = 'c'
         and pg_get_constraintdef(oid) ~ 'plan'`,
    );
    for (const { name } of checks) await app.sql(`alter table api_keys drop constraint "${String(name)}"`);
    const [newer, figureless, revoked, known] = await Promise.all(Array.from({ length: 4 }, () => app.createKey()));
    const statusOf = async ({ secret }: { secret: string } = known!): Promise<number> =>
      (await app.ask('GET', '/categories?limit=1', undefined, { authorization: `Bearer ${secret}` })).status;
    const all = [newer, figureless, revoked, known];
    expect(await Promise.all(all.map(statusOf))).toEqual([200, 200, 200, 200]);

    await app.sql(`update api_keys set plan = 'galactic' where id = any($1)`, [[newer!.id, revoked!.id]]);
    await app.sql(`update api_keys set plan = 'enterprise' where id = $1`, [figureless!.id]);
    await app.sql('update api_keys set revoked_at = now() where id = $1', [revoked!.id]);
    await until(async () => (await statusOf(newer)) === 503);
    expect(await Promise.all(all.map(statusOf))).toEqual([503, 503, 401, 200]);
    expect(await statusOf(await app.createKey())).toBe(200);
    await app.sql('update api_keys set revoked_at = now() where id = $1', [known!.id]);
    await until(async () => (await statusOf(known)) === 401);
    await app.sql(`update api_keys set plan = 'pro' where id = $1`, [newer!.id]);
    await until(async () => (await statusOf(newer)) === 200);

    const lines = app.log.filter(({ msg }) => String(msg).includes('an api key cannot be read'));
    expect(new Set(lines.map((line) => /The row (\d+) of api_keys/.exec(JSON.stringify(line))?.[1]))).toEqual(
      new Set([newer, figureless, revoked].map((each) => each!.id)),
    );
    expect(lines).toHaveLength(3);
  });

  it('fails lists of keys and their histories with 503, and leaves the metrics as they are', async () => {
    expect((await app.graphql('{ apiKeys { nodes { plan } } }')).codes).toEqual(['SERVICE_UNAVAILABLE']);
    const { status, text } = await app.ask('GET', '/metrics');
    expect([status, text.includes('petstore_requests_total')]).toEqual([200, true]);
    expect((await app.ask('GET', '/readyz')).status).toBe(200);
  });
});
