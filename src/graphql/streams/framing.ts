import type { Framing } from '../../platform/feed/index.ts';
import { acceptedRanges, type MediaRange } from '../../platform/http/index.ts';

/** The text around the only result of a response over Server-Sent Events. JSON text has no line breaks. */
export const singleEvent = { start: 'event: next\ndata: ', end: '\n\nevent: complete\ndata:\n\n' };

/** GraphQL over Server-Sent Events, "distinct connections mode". */
const serverSentEvents: Framing = {
  contentType: 'text/event-stream; charset=utf-8',
  opening: ':\n\n',
  keepAlive: ':\n\n',
  result: (body) => `${singleEvent.start}${body}\n\n`,
  end: (body) => singleEvent.start + body + singleEvent.end,
};

/** Clients take a part when the boundary after it arrives, so each part ends with it. */
const boundary = 'graphql';
const delimiter = `\r\n--${boundary}`;
const partHead = '\r\ncontent-type: application/json; charset=utf-8\r\n\r\n';

/** Apollo's protocol for subscriptions over multipart HTTP. */
const multipart: Framing = {
  contentType: `multipart/mixed;boundary="${boundary}";subscriptionSpec=1.0`,
  opening: delimiter,
  keepAlive: `${partHead}{}${delimiter}`,
  result: (body) => `${partHead}{"payload":${body}}${delimiter}`,
  end: (body) => `${partHead}{"payload":null,${body.slice(1)}${delimiter}--\r\n`,
};

export const eventStreamContentType = serverSentEvents.contentType;

/** The media types that a client may accept for a subscription, in words. */
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

export function namesEventStream(accept: string | undefined): boolean {
  return acceptedRanges(accept).some(isEventStream);
}

function isEventStream({ type }: MediaRange): boolean {
  return type === 'text/event-stream';
}

function isMultipart({ type, parameters }: MediaRange): boolean {
  return type === 'multipart/mixed' && parameters.get('subscriptionspec') === '1.0';
}
