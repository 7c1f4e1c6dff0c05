import { eventBody } from '../../domain/events/event-body.ts';
import { eventIdOf } from '../../domain/events/event.ts';
import type { Handlers } from '../handler.ts';
import { linkToNext } from '../responses.ts';

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
