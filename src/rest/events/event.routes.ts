import { eventIdOf } from '../../domain/events/event-id.ts';
import type { Handlers } from '../handler.ts';
import { linkToNext } from '../responses.ts';
import { eventBody } from './event.body.ts';

const path = '/events';

export const eventRoutes = {
  listEvents: async ({ url, query }, { events }) => {
    const { cursor, limit, type } = query;
    const filter = { typeIn: type && [type] };
    const page = cursor === 'now' ? await events.now() : await events.list({ first: limit, after: cursor, filter });
    const prefix = url.slice(0, -path.length);
    return {
      status: 200,
      // There is always a next page: to poll for what comes.
      headers: page.end === undefined ? {} : { link: linkToNext(url, query, eventIdOf(page.end)) },
      body: JSON.stringify(page.events.map((event) => eventBody(event, prefix))),
    };
  },
} satisfies Partial<Handlers>;
