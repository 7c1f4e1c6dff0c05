import { expect, it } from '@jest/globals';

import type { EventPosition } from '../../../src/domain/events/event.ts';
import {
  EventStreams,
  type EventStreamsOptions,
  type StreamOpening,
} from '../../../src/graphql/streams/event-streams.ts';
import { callers } from '../../support/caller.ts';

it('an opening that waits for the database while the service begins to stop is refused', async () => {
  let answer: ((end: EventPosition) => void) | undefined;
  const streams = new EventStreams({
    callers,
    maxStreams: 10,
    stores: { for: () => ({ events: { last: () => new Promise<EventPosition>((resolve) => (answer = resolve)) } }) },
  } as unknown as EventStreamsOptions);
  const opened = streams.open({} as StreamOpening, () => {
    throw new Error('unexpected');
  });
  await streams.drain();
  answer!('1:1');
  await expect(opened).rejects.toThrow('This process of the service is stopping');
});
