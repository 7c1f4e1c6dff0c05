import { expect, it } from '@jest/globals';

import { Accounts } from '../../../src/account/accounts.ts';
import { TickTime } from '../../../src/account/tick-time.ts';
import type { EventPosition } from '../../../src/domain/events/event.ts';
import {
  EventStreams,
  type EventStreamsOptions,
  type StreamOpening,
} from '../../../src/graphql/streams/event-streams.ts';

it('an opening that waits for the database while the service begins to stop is refused', async () => {
  const accounts = new Accounts();
  let answer: ((end: EventPosition) => void) | undefined;
  const streams = new EventStreams({
    accounts,
    ticks: new TickTime(accounts, 5),
    maxStreams: 10,
    log: { last: () => new Promise<EventPosition>((resolve) => (answer = resolve)) },
  } as unknown as EventStreamsOptions);
  const opened = streams.open({} as StreamOpening, () => {
    throw new Error('unexpected');
  });
  await streams.drain();
  answer!({ position: '1', salt: '1' } as unknown as EventPosition);
  await expect(opened).rejects.toThrow('This process of the service is stopping');
});
