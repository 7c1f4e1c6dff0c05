/** How results are written into a response that goes on. */
export interface Framing {
  readonly contentType: string;
  /** Sent at once, so that the client gets the head of the response. */
  readonly opening: string;
  readonly keepAlive: string;
  /** One result: `{"data":…}`. */
  result(body: string): string;
  /** The last message, with the errors that say why: `{"errors":[…]}`. */
  end(body: string): string;
}

/** What surrounds the only result of a response over Server-Sent Events. JSON text has no line breaks. */
export const singleEvent = { start: 'event: next\ndata: ', end: '\n\nevent: complete\ndata:\n\n' };

/** GraphQL over Server-Sent Events, "distinct connections mode". */
export const serverSentEvents: Framing = {
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
export const multipart: Framing = {
  contentType: `multipart/mixed;boundary="${boundary}";subscriptionSpec=1.0`,
  opening: delimiter,
  keepAlive: `${partHead}{}${delimiter}`,
  result: (body) => `${partHead}{"payload":${body}}${delimiter}`,
  end: (body) => `${partHead}{"payload":null,${body.slice(1)}${delimiter}--\r\n`,
};
