import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';

// guide:begin events-mirror
export interface Mirror {
  /** The rows of the copy, by their paths. */
  rows(): readonly (readonly [path: string, row: string])[];
  /** How many events it has applied. */
  applied(): number;
  /** Resolves when it has been aborted. */
  readonly done: Promise<void>;
}

interface Change {
  readonly type: string;
  readonly resource: string;
  readonly object: object;
}

/** Copies the whole store into SQLite, and applies every change from then on. */
export async function mirrorStore(origin: string, key: string, signal: AbortSignal): Promise<Mirror> {
  const database = new DatabaseSync(':memory:');
  database.exec('create table store (path text primary key, row text not null)');
  const put = database.prepare('insert into store values (?, ?) on conflict (path) do update set row = excluded.row');
  const remove = database.prepare('delete from store where path = ?');
  const read = (path: string): Promise<Response> =>
    fetch(new URL(path, origin), { headers: { Authorization: `Bearer ${key}` } });
  const nextOf = ({ headers }: Response): string | undefined =>
    /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1];

  // First the position, then the lists, then every event from that position on: what changes meanwhile is in one of the
  // two.
  let next = nextOf(await read('/events?cursor=now&limit=100'));
  for (const list of ['/categories', '/pets?limit=100', '/store/orders', '/inventory']) {
    for (let page: string | undefined = list; page !== undefined;) {
      const response = await read(page);
      for (const row of (await response.json()) as { id?: number; petId?: number }[])
        put.run(`${list.split('?')[0]}/${row.id ?? row.petId}`, JSON.stringify(row));
      page = nextOf(response);
    }
  }
  let applied = 0;
  const follow = async (): Promise<void> => {
    while (!signal.aborted && next !== undefined) {
      // Without a whole response the same page is read again.
      const response = await read(next).catch(() => undefined);
      if (response?.status === 410) throw new Error('The position is gone: copy the store anew.');
      const body: unknown = response?.ok === true ? await response.json().catch(() => undefined) : undefined;
      const events = body as readonly Change[] | undefined;
      for (const { type, resource, object } of events ?? []) {
        if (type === 'store.resync') throw new Error('Anything may have changed: copy the store anew.');
        if (/deleted|cancelled/.test(type)) remove.run(resource);
        else put.run(resource, JSON.stringify(object));
        applied += 1;
      }
      if (response !== undefined && events !== undefined) next = nextOf(response) ?? next;
      if (events === undefined || events.length === 0) await sleep(1_000, undefined, { signal }).catch(() => undefined);
    }
  };
  return {
    rows: () =>
      database
        .prepare('select path, row from store order by path')
        .all()
        .map((row) => [String(row['path']), String(row['row'])]),
    applied: () => applied,
    done: follow(),
  };
}
// guide:end
