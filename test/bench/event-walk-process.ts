/*
 * The memory of the service while a client walks through a long log, by `GET /events` and by GraphQL:
 *
 *   npm run -s build && node test/bench/event-walk-process.ts [EVENTS]
 */
import { setTimeout as sleep } from 'node:timers/promises';

import { connect } from '../support/postgres-client.ts';
import { PostgresCluster } from '../support/postgres-cluster.ts';
import { createKey, startService } from './measured-service.ts';

const count = Number(process.argv[2] ?? 1_000_000);
const chunk = 20_000;
const page = `query ($after: ID) { events(first: 100, after: $after) {
  edges { node { id type at nodeId version object { ... on Category { name description } } } } pageInfo { endCursor } } }`;

const cluster = await PostgresCluster.create();
const service = await startService({ DATABASE_URL: cluster.url, LOG_LEVEL: 'warn' });
const client = await connect(cluster.url);
try {
  const key = await createKey(service.address);
  const startedAt = performance.now();
  for (let first = 0; first < count; first += chunk) {
    await client.query(
      `insert into categories (name, description) select n::text, 'One of many' from generate_series($1::int, $1::int + $2::int - 1) as n`,
      [first, Math.min(chunk, count - first)],
    );
    while ((await client.query('select from event_outbox union all select from event_backlog limit 1')).rowCount !== 0)
      await sleep(50);
  }
  console.log({ events: count, secondsToLog: secondsSince(startedAt) });
  await walk('GET /events', async (next) => {
    const response = await send(next ?? '/events?limit=100', key);
    return {
      names: (response.body as readonly LoggedCategory[]).map(({ object }) => object.name),
      next: /<([^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1],
    };
  });
  await walk('GraphQL', async (after) => {
    const response = await send('/graphql', key, { query: page, variables: { after } });
    const { edges, pageInfo } = (response.body as ConnectionResponse).data.events;
    return { names: edges.map(({ node }) => node.object.name), next: pageInfo.endCursor };
  });
} finally {
  await client.end();
  await service.stop();
  cluster.remove();
}

interface LoggedCategory {
  readonly object: { readonly name: string };
}

interface ConnectionResponse {
  readonly data: {
    readonly events: {
      readonly edges: readonly { readonly node: LoggedCategory }[];
      readonly pageInfo: { readonly endCursor: string };
    };
  };
}

interface Page {
  readonly names: readonly string[];
  readonly next: string | undefined;
}

async function walk(title: string, read: (from: string | undefined) => Promise<Page>): Promise<void> {
  const startedAt = performance.now();
  const megabytes: number[] = [service.residentMegabytes];
  let seen = 0;
  let wrong = 0;
  for (let from: string | undefined; ;) {
    const { names, next } = await read(from);
    for (const name of names) {
      if (name !== String(seen)) wrong += 1;
      seen += 1;
    }
    if (Math.floor((seen * 4) / count) >= megabytes.length) megabytes.push(service.residentMegabytes);
    if (names.length === 0) break;
    from = next;
  }
  console.log({ walk: title, seen, wrong, megabytes: megabytes.map(Math.round), seconds: secondsSince(startedAt) });
}

async function send(
  path: string,
  key: string,
  body?: object,
): Promise<{ readonly headers: Headers; readonly body: unknown }> {
  const response = await fetch(service.address + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  return { headers: response.headers, body: await response.json() };
}

function secondsSince(startedAt: number): number {
  return Math.round((performance.now() - startedAt) / 1_000);
}
