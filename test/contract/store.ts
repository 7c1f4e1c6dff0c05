import { locationOf, withClient } from '../support/postgres-client.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import type { Preparation } from '../support/nouns/noun-sample.ts';
import { testedNounAt } from '../support/nouns/nouns.ts';
import { until } from '../support/until.ts';
import type { Operation, Schema } from './document.ts';
import { parseExactly, type ReceivedResponse } from './response-check.ts';

export interface Ask {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** The service as a client of the document uses it, with things of its own to work on. */
export interface Store {
  readonly app: TestApp;
  /** With a key that has the scope admin and no limit. */
  readonly headers: Ask['headers'];
  /** Of other keys. */
  readonly keys: ReturnType<typeof openKeys>;
  ask(request: Ask): Promise<ReceivedResponse>;
  /** Brings a row into a state, as a sample of its noun says: `:id` is its id, other names are fields that are sent. */
  prepare(
    preparations: readonly Preparation[],
    fields: Readonly<Record<string, unknown>>,
    place: string,
  ): Promise<void>;
  /** A request of the operation that succeeds, on resources that nothing else uses. */
  goodRequest(operation: Operation): Promise<Ask>;
  create(path: string, body: object): Promise<Readonly<Record<string, number>>>;
  /** The body that creates something at this path; undefined where nothing can be created. */
  creationOf(path: string): Promise<object | undefined>;
  /** Runs while another transaction has locked every table of a resource. */
  whileLocked<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Resolves when something waits for such a lock. */
  lockWait(): Promise<void>;
}

export async function openStore(
  operations: readonly Operation[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Store> {
  const app = await startTestApp(
    { DATABASE_POOL: '4', ...environment },
    { collectionLimits: { perKey: 100, perProcess: 100 } },
  );
  const keys = openKeys(app);
  const headers = { authorization: `Bearer ${app.key}` };
  const ask: Store['ask'] = async ({ method, url, headers: own, body }) => {
    const { statusCode, payload, ...response } = await app.app.server.inject({
      method: method as 'GET',
      url,
      headers: own,
      ...(body === undefined ? {} : { payload: body }),
    });
    return { status: statusCode, headers: response.headers as Record<string, string | undefined>, text: payload };
  };
  const create: Store['create'] = async (path, body) => {
    const response = await ask(withBody({ method: 'POST', url: path, headers }, body));
    if (response.status !== 201) {
      throw new Error(`The examples in src/rest/openapi/: POST ${path} got ${response.status}: ${response.text}`);
    }
    return parseExactly(response.text) as Record<string, number>;
  };
  const fixtures = new Fixtures(operations, create);
  const prepare: Store['prepare'] = async (preparations, fields, place) => {
    for (const { method, url, body } of preparations) {
      const named = JSON.parse(JSON.stringify(body).replaceAll('":id"', String(fields['id']))) as object;
      const path = url.replace(/:(\w+)/, (_, name: string) => String(fields[name]));
      const { status, text } = await ask(withBody({ method, url: path, headers }, named));
      if (status >= 400) throw new Error(`${place}: ${method} ${url} got ${status}: ${text}`);
    }
  };
  return {
    app,
    headers,
    keys,
    ask,
    create,
    prepare,
    creationOf: async (path) => {
      const { body } = operations.find((each) => each.isCreation && each.path === path) ?? {};
      return body && fixtures.exampleOf(body);
    },
    goodRequest: async ({ operationId, method, path, body }) => {
      const [, name] = /\{(\w+)\}/.exec(path) ?? [];
      const id = name === undefined ? '' : String(await fixtures.create(name));
      const url = path.replace(/\{\w+\}/, id);
      const { ready = {}, file = '' } = testedNounAt(path) ?? {};
      const sent = body && (await fixtures.exampleOf(body));
      await prepare(ready[operationId] ?? [], { ...sent, id }, `ready in ${file}`);
      const request = { method, url, headers };
      return sent === undefined ? request : withBody(request, sent);
    },
    whileLocked: (work) => whileLocked(app.environment, work),
    lockWait: async () => {
      await until(async () => (await app.sql(waitingLocks)).length > 0);
    },
  };
}

const noLimit = 2 ** 31 - 1;

/** Makes keys, as headers of a request. */
function openKeys(app: TestApp) {
  const create = (scope: 'read' | 'admin', requests: number) =>
    app.createKey({ plan: 'enterprise', scopes: [scope], requestsPerMinute: requests, requestsPerDay: requests });
  const headersOf = ({ secret }: { readonly secret: string }): Ask['headers'] => ({
    authorization: `Bearer ${secret}`,
  });
  return {
    readOnly: async () => headersOf(await create('read', noLimit)),
    /** With one request per window. */
    single: async () => headersOf(await create('admin', 1)),
    banned: async () => {
      const key = await create('admin', noLimit);
      await app.sql(`update api_keys set banned_until = now() + interval '1 hour' where id = $1`, [key.id]);
      return headersOf(key);
    },
  };
}

/** The tables of the resources with the columns of their primary keys, and the log of changes with its position. */
export const primaryKeys = `select conrelid::regclass::text as table, attname as column
  from pg_constraint join pg_attribute on attrelid = conrelid and attnum = conkey[1]
  where contype = 'p' and conparentid = 0
    and conrelid::regclass::text !~ 'api_key|quota|idempotency|migrations|event|pg_|[.]'
  union all select 'events', 'position'`;

const waitingLocks = `select from pg_locks join pg_database on pg_database.oid = database
  where not granted and locktype = 'relation' and datname = current_database()`;

/** The same request with another body, as JSON. */
export function withBody(request: Ask, body: object): Ask {
  return {
    ...request,
    headers: { ...request.headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  };
}

/** New resources by the names of the parameters and fields that take their ids. */
class Fixtures {
  readonly #collections: ReadonlyMap<string, Operation>;
  readonly #create: Store['create'];

  constructor(operations: readonly Operation[], create: Store['create']) {
    this.#create = create;
    const creations = operations.filter(({ isCreation }) => isCreation);
    this.#collections = new Map(
      operations.flatMap(({ path }) => {
        const [, collection, name = ''] = /^(.*)\/\{(\w+)\}$/.exec(path) ?? [];
        const creation = creations.find((each) => each.path === collection);
        return creation === undefined ? [] : [[name, creation]];
      }),
    );
  }

  /** Creates what `petId` names by a POST to the collection of `/pets/{petId}`; returns its id. */
  async create(name: string): Promise<number> {
    const creation = this.#collections.get(name);
    if (creation === undefined) throw new Error(`No operation creates what ${name} names.`);
    return (await this.#create(creation.path, await this.exampleOf(creation.body ?? {})))['id']!;
  }

  /** The body that the document's own examples make, with ids of resources that exist. */
  async exampleOf(schema: Schema): Promise<Record<string, unknown>> {
    const fields: Record<string, unknown> = {};
    for (const [name, { readOnly, example }] of Object.entries(schema.properties ?? {})) {
      if (readOnly !== true) fields[name] = this.#collections.has(name) ? await this.create(name) : example;
    }
    return fields;
  }
}

function whileLocked<Result>(
  environment: Readonly<Record<string, string>>,
  work: () => Promise<Result>,
): Promise<Result> {
  return withClient(locationOf(environment), async (client) => {
    await client.query('begin');
    const { rows } = await client.query<{ table: string }>(primaryKeys);
    await client.query(`lock table ${rows.map(({ table }) => table).join(', ')} in access exclusive mode`);
    return work();
  });
}
