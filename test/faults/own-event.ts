import { eventStream, openStream } from '../graphql/streams/stream-client.ts';
import { adminKey, type StoreClient } from '../support/service.ts';
import { until } from '../support/until.ts';

/** Creates a category, and resolves when a stream of the same process has got its event. */
export async function receiveOwnEvent(service: StoreClient): Promise<void> {
  const query = 'subscription { events { type object { ... on Category { id } } } }';
  const stream = await openStream(service.address, adminKey, { query }, eventStream);
  const { body } = await service.post('/categories', { name: 'followed' });
  // What was committed before is events, too.
  await until(() => stream.results().some(({ data }) => data.events.object?.id === String(body.id)));
  stream.close();
}
