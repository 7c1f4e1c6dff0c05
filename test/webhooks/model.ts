import { expect } from '@jest/globals';

import type { StoreClient } from '../support/service.ts';
import type { Inbox } from './inbox.ts';

/** An event of the log, as `GET /events` has it. */
export interface LoggedEvent {
  readonly id: string;
  readonly type: string;
  readonly resource: string;
}

export async function readLog(store: StoreClient, authorization: string): Promise<LoggedEvent[]> {
  const events: LoggedEvent[] = [];
  for (let page = '/events?limit=100'; ;) {
    const { body, headers } = await store.get(page, { authorization });
    events.push(...(body as LoggedEvent[]));
    if (body.length === 0) return events;
    page = /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')![1]!;
  }
}

/** Each of these events was accepted at least once, and nothing else, and first accepted in the order of its object. */
export function expectDelivered(inbox: Inbox, expected: readonly LoggedEvent[], isInOrder = false): void {
  const firsts = [...new Set(inbox.accepted.map(({ id }) => id))];
  const ids = expected.map(({ id }) => id);
  expect(firsts.toSorted()).toEqual(ids.toSorted());
  if (isInOrder) expect(firsts).toEqual(ids);
  const resources = new Map(expected.map(({ id, resource }) => [id, resource]));
  const byObject = (list: readonly string[]): object => Object.groupBy(list, (id) => resources.get(id)!);
  expect({ ...byObject(firsts) }).toEqual({ ...byObject(ids) });
}

export function typesOf({ accepted }: Inbox): string[] {
  return accepted.map(({ type }) => type);
}
