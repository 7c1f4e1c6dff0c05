import { expect, it } from '@jest/globals';
import fc from 'fast-check';

import { connect } from '../../support/postgres-client.ts';
import { startCluster } from '../../support/started-cluster.ts';
import { listenHere } from '../../support/test-app.ts';

/*
 * On a server: the embedded database has one session, so no other transaction can hold a lock.
 */
const cluster = await startCluster();

const seed = Number(process.env['BATCHES_SEED'] ?? Date.now() % 2 ** 31);

/** What becomes of a creation, by what it has of its own; its status. */
const fates = { free: 201, missing: 400, locked: 503, late: 503, deadlock: 503, unserializable: 503, cancelled: 503 };
type Fate = keyof typeof fates;
/** Those that wait have connections of their key, of which it has three. */
const waiting: readonly Fate[] = ['locked', 'late'];

const service = await listenHere({ DATABASE_URL: cluster.url, DATABASE_POOL: '10' });
await cluster.sql(
  `insert into categories (id, name) overriding system value values (1, 'Free'), (2, 'Locked'), (3, 'Other');
   insert into pets (id, name, category_id) overriding system value values (1, 'Free', 1), (2, 'Locked', 1);
   insert into inventory (pet_id, quantity) values (1, 0), (2, 0);
   alter sequence pets_id_seq restart 1000;
   create function fail() returns trigger language plpgsql as $$
   declare
     fate text := coalesce(to_jsonb(new)->>'quantity', to_jsonb(new)->>'name');
   begin
     if fate in ('late', '4') then perform pg_sleep(10); end if;
     if fate in ('deadlock', '5') then raise exception 'of this row' using errcode = '40P01'; end if;
     if fate in ('unserializable', '6') then raise exception 'of this row' using errcode = '40001'; end if;
     if fate in ('cancelled', '7') then raise exception 'of this row' using errcode = '57014'; end if;
     return new;
   end $$;
   create trigger fail before insert on pets for each row execute function fail();
   create trigger fail before insert on orders for each row execute function fail()`,
);
/** Holds a lock on the category, and the pet, 2. */
const holder = await connect(cluster.url);
await holder.query('begin; select from categories where id = 2 for update; select from pets where id = 2 for update');

const creation = fc.record({
  fate: fc.oneof(
    { weight: 6, arbitrary: fc.constant<Fate>('free') },
    { weight: 1, arbitrary: fc.constantFrom<Fate>('missing', 'deadlock', 'unserializable', 'cancelled') },
  ),
  isOrder: fc.boolean(),
  isKeyed: fc.boolean(),
  overGraphQL: fc.boolean(),
  /** Each run has keys of its own: none is kept apart because of an earlier one. */
  key: fc.nat(2),
});
type Creation = typeof creation extends fc.Arbitrary<infer Value> ? Value : never;

/** Twelve creations, of which one or two wait. */
const batch = fc
  .tuple(
    fc.array(creation, { minLength: 12, maxLength: 12 }),
    fc.array(fc.tuple(fc.nat(11), fc.constantFrom(...waiting)), { minLength: 1, maxLength: 2 }),
  )
  .map(([creations, late]) =>
    creations.map((each, index) => ({ ...each, fate: late.find(([at]) => at === index)?.[1] ?? each.fate })),
  );

let sent = 0;

async function create({ fate, isOrder, isKeyed, overGraphQL }: Creation, authorization: string): Promise<number> {
  const target = { missing: 404, locked: 2 }[fate as string] ?? 1;
  const quantity = Object.keys(fates).indexOf(fate) + 1;
  const headers = { authorization, ...(isKeyed && { 'idempotency-key': `key ${(sent += 1)}` }) };
  if (!overGraphQL) {
    const { status } = isOrder
      ? await service.post('/store/orders', { petId: target, quantity }, headers)
      : await service.post('/pets', { name: fate, categoryId: target }, headers);
    return status;
  }
  const field = isOrder
    ? `createOrder(input: { petId: ${target}, quantity: ${quantity} }) { order { id } }`
    : `createPet(input: { name: "${fate}", categoryId: ${target} }) { pet { id } }`;
  const { status, body } = await service.post('/graphql', { query: `mutation { ${field} }` }, headers);
  const [error] = body.errors ?? [];
  return error === undefined ? (status === 200 ? 201 : status) : error.extensions.status;
}

it(`of what three keys create at once, each is refused, waits and fails for itself (BATCHES_SEED=${seed})`, async () => {
  for (const creations of fc.sample(batch, { seed, numRuns: 5 })) {
    const keys = await Promise.all([1, 2, 3].map(() => service.createKey()));
    const statuses = await Promise.all(creations.map((each) => create(each, `Bearer ${keys[each.key]}`)));
    const outcomes = creations.map((each, index) => [statuses[index], each]);
    expect(outcomes).toEqual(creations.map((each) => [fates[each.fate], each]));
  }
});
