import { DatabaseSync } from 'node:sqlite';

import { retryingFetch } from '../shared/retrying-fetch.ts';
import { followByFetch, nextOf, type StoreEvent } from './follow-by-fetch.ts';

// guide:begin events-mirror
export interface Mirror {
  /** The rows of the copy, by their paths. */
  rows(): readonly (readonly [path: string, row: string])[];
  /** How many events it has applied. */
  applied(): number;
  /** Resolves when it has been aborted, and rejects when the store has to be copied anew or the key is refused. */
  readonly done: Promise<void>;
}

/** Copies the whole store into SQLite, and applies every change from then on. */
export async function mirrorStore(origin: string, key: string, signal: AbortSignal): Promise<Mirror> {
  const database = new DatabaseSync(':memory:');
  database.exec('create table store (path text primary key, row text not null)');
  const put = database.prepare('insert into store values (?, ?) on conflict (path) do update set row = excluded.row');
  const remove = database.prepare('delete from store where path = ?');
  const read = async (path: string): Promise<Response> => {
    const response = await retryingFetch(new URL(path, origin), { headers: { Authorization: `Bearer ${key}` } });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response;
  };

  // First the position, then the lists, then every event from that position on: what changes meanwhile is in one of the
  // two.
  const start = nextOf(await read('/events?cursor=now&limit=100')) ?? '/events';
  for (const list of ['/categories', '/pets?limit=100', '/store/orders', '/inventory']) {
    for (let page: string | undefined = list; page !== undefined;) {
      const response = await read(page);
      for (const row of (await response.json()) as { id?: number; petId?: number }[])
        put.run(`${list.split('?')[0]}/${row.id ?? row.petId}`, JSON.stringify(row));
      page = nextOf(response);
    }
  }
  let applied = 0;
  const apply = ({ type, resource = '', object = {} }: StoreEvent): void => {
    if (type === 'store.resync') throw new Error('Anything may have changed: copy the store anew.');
    if (/deleted|cancelled/.test(type)) remove.run(resource);
    else put.run(resource, JSON.stringify(object));
    applied += 1;
  };
  return {
    rows: () =>
      database
        .prepare('select path, row from store order by path')
        .all()
        .map((row) => [String(row['path']), String(row['row'])]),
    applied: () => applied,
    done: followByFetch(new URL(start, origin), key, apply, signal),
  };
}
// guide:end
