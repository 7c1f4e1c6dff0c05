import { type Framing, multipart, serverSentEvents } from '../../platform/feed/index.ts';
import { acceptedRanges, type MediaRange } from '../../platform/http/index.ts';

export const eventStreamType = serverSentEvents.contentType;

/** What a client may accept for a subscription, in words. */
export const streamTypes = 'text/event-stream or multipart/mixed;subscriptionSpec=1.0';

/** The framing that an Accept header prefers among those that it names. */
export function framingFor(accept: string | undefined): Framing | undefined {
  const ranges = acceptedRanges(accept).toSorted((a, b) => b.weight - a.weight);
  for (const range of ranges) {
    if (isEventStream(range)) return serverSentEvents;
    if (isMultipart(range)) return multipart;
  }
  return undefined;
}

/** Whether an Accept header names `text/event-stream`. */
export function namesEventStream(accept: string | undefined): boolean {
  return acceptedRanges(accept).some(isEventStream);
}

function isEventStream({ type }: MediaRange): boolean {
  return type === 'text/event-stream';
}

function isMultipart({ type, parameters }: MediaRange): boolean {
  return type === 'multipart/mixed' && parameters.get('subscriptionspec') === '1.0';
}
