import { until } from '../../support/until.ts';

export const eventStream = 'text/event-stream';
export const multipart = 'multipart/mixed;boundary="graphql";subscriptionSpec=1.0,application/json';

interface Message {
  // oxlint-disable-next-line typescript/no-explicit-any -- what a message holds is each test's own to say
  readonly payload: any;
}

/** An open stream as a client reads it. */
export interface ClientStream {
  readonly status: number;
  readonly headers: Headers;
  /** The results so far: of either framing the same, with the errors of the last message. */
  // oxlint-disable-next-line typescript/no-explicit-any -- what a result holds is each test's own to say
  results(): any[];
  /** How many comment lines or empty parts there were. */
  keepAlives(): number;
  /** The whole text so far. */
  text(): string;
  isEnded(): boolean;
  /** Resolves when there are so many results. */
  until(count: number): Promise<void>;
  ended(): Promise<void>;
  close(): void;
}

/** Sends a GraphQL request whose response is read as it comes. */
export async function openStream(
  address: string,
  key: string,
  body: object,
  accept: string,
  path = '/graphql',
): Promise<ClientStream> {
  const abort = new AbortController();
  const response = await fetch(`${address}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', accept },
    body: JSON.stringify(body),
    signal: abort.signal,
  });
  let text = '';
  let isEnded = false;
  const read = async (): Promise<void> => {
    const decoder = new TextDecoder();
    try {
      for await (const chunk of response.body ?? []) text += decoder.decode(chunk, { stream: true });
    } catch {
      // Closed by the test, or reset.
    }
    isEnded = true;
  };
  void read();
  const messages = (): Message[] =>
    response.headers.get('content-type')?.startsWith(eventStream) === true ? eventsIn(text) : partsIn(text);
  const stream: ClientStream = {
    status: response.status,
    headers: response.headers,
    results: () => messages().flatMap(({ payload }) => (payload === undefined ? [] : [payload])),
    keepAlives: () => messages().filter(({ payload }) => payload === undefined).length,
    text: () => text,
    isEnded: () => isEnded,
    until: (count) => until(() => stream.results().length >= count),
    ended: () => until(() => isEnded),
    close: () => abort.abort(),
  };
  return stream;
}

function eventsIn(text: string): Message[] {
  return text
    .split('\n\n')
    .slice(0, -1)
    .filter((block) => !block.startsWith('event: complete'))
    .map((block) => {
      const data = /^data: (.*)$/m.exec(block)?.[1];
      return { payload: data === undefined ? undefined : JSON.parse(data) };
    });
}

function partsIn(text: string): Message[] {
  return text
    .split('\r\n--graphql')
    .slice(1, -1)
    .map((part) => {
      const { payload, errors } = JSON.parse(part.slice(part.indexOf('\r\n\r\n')) || '{}');
      return { payload: payload === null ? { errors } : payload };
    });
}
