import { eventIdOf, type StoreEvent } from '../../domain/events/event.ts';
import { idOf, nouns, representationOf, versionOfRow } from '../../domain/nouns.ts';
import type { Handlers } from '../handler.ts';
import { linkToNext } from '../responses.ts';

/** The body of an event; `prefix` is before every path. */
function eventBody(event: StoreEvent, prefix: string): object {
  const { type, at, subject } = event;
  const head = { id: eventIdOf(event.position), type, at: at.toISOString() };
  if (subject === undefined) return head;
  return {
    ...head,
    resource: `${prefix}${nouns[subject.noun].path}/${idOf(subject.noun, subject.row)}`,
    version: versionOfRow(subject.noun, subject.row),
    object: representationOf(subject.noun, subject.row),
  };
}

export const eventRoutes = {
  async listEvents({ url, prefix, query }, { events }) {
    const { cursor, limit, type } = query;
    const filter = { typeIn: type && [type] };
    const page = cursor === 'now' ? await events.now() : await events.list({ first: limit, position: cursor, filter });
    return {
      status: 200,
      // There is always a next page: to poll for what comes.
      headers: page.end === undefined ? {} : { link: linkToNext(url, query, eventIdOf(page.end)) },
      body: JSON.stringify(page.events.map((event) => eventBody(event, prefix))),
    };
  },
} satisfies Partial<Handlers>;
