import { setTimeout as wait } from 'node:timers/promises';

import type { Service } from '../../support/service.ts';
import { until } from '../../support/until.ts';

const pollMillis = 200;
/** Until a reader has read what there is. */
const atMost = { maxMillis: 120_000, everyMillis: pollMillis };

interface Event {
  readonly id: string;
  readonly type: string;
  readonly object: { readonly id?: string | number; readonly petId?: string | number; readonly quantity?: number };
}

/** The whole log, from its oldest event, in pages; or what follows the cursor. */
async function* pages(services: readonly Service[], secret: string, onGone: () => void): AsyncGenerator<Event[]> {
  const oldest = '/events?limit=100';
  let path = oldest;
  for (let n = 0; ; n += 1) {
    const response = await services[n % services.length]!.get(path, { authorization: `Bearer ${secret}` });
    if (response.status === 200) {
      path = /<([^>]*)>; rel="next"/.exec(response.headers.get('link') ?? '')![1]!.replace(/^https?:\/\/[^/]+/, '');
      yield response.body as Event[];
    } else if (response.status === 410) {
      onGone();
      path = oldest;
    } else if (response.status === 503) {
      await wait(pollMillis);
    } else throw new Error(`GET /events: ${response.status}`);
  }
}

/** Reads the log to its present end. */
export async function readLog(services: readonly Service[], secret: string): Promise<Event[]> {
  const events: Event[] = [];
  const onGone = (): void => {
    throw new Error('EVENTS_GONE');
  };
  for await (const page of pages(services, secret, onGone)) {
    events.push(...page);
    if (page.length === 0) return events;
  }
  return events;
}

/** Follows the log by polling, from process to process. */
export class EventPoller {
  ids: string[] = [];
  gone = 0;
  #isStopped = false;
  readonly #work: Promise<void>;

  constructor(services: readonly Service[], secret: string) {
    this.#work = this.#follow(services, secret);
    this.#work.catch(() => undefined);
  }

  /** Resolves when it has read up to this event. */
  async stopAt(id: string | undefined): Promise<void> {
    const reading = this.#work.then(() => Promise.reject(new Error('The reader has ended.')));
    reading.catch(() => undefined);
    await Promise.race([until(() => this.ids.at(-1) === id, atMost), reading]);
    this.#isStopped = true;
    await this.#work;
  }

  async #follow(services: readonly Service[], secret: string): Promise<void> {
    const onGone = (): void => {
      this.gone += 1;
      this.ids = [];
    };
    for await (const page of pages(services, secret, onGone)) {
      this.ids.push(...page.map(({ id }) => id));
      if (this.#isStopped) return;
      if (page.length < 100) await wait(pollMillis);
    }
  }
}

/** Follows the log by a subscription, which it opens again at the next process whenever it ends. */
export class EventSubscriber {
  ids: string[] = [];
  gone = 0;
  /** How often it has ended. */
  ends = 0;
  readonly #stopping = new AbortController();
  readonly #work: Promise<void>;

  constructor(services: readonly Service[], secret: string, after: string) {
    this.#work = this.#follow(services, secret, after);
    this.#work.catch(() => undefined);
  }

  async stopAt(id: string | undefined): Promise<void> {
    await until(() => this.ids.at(-1) === id || this.gone > 0, atMost);
    this.#stopping.abort();
    await this.#work;
  }

  async #follow(services: readonly Service[], secret: string, after: string): Promise<void> {
    for (let n = 0; !this.#stopping.signal.aborted; n += 1) {
      await this.#read(services[n % services.length]!, secret, this.ids.at(-1) ?? after).catch(() => undefined);
      this.ends += 1;
      if (this.gone > 0) return;
      await wait(pollMillis).catch(() => undefined);
    }
  }

  async #read(service: Service, secret: string, after: string): Promise<void> {
    const response = await fetch(`${service.address}/graphql`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify({ query: `subscription { events(after: "${after}") { id } }` }),
      signal: this.#stopping.signal,
    });
    if (response.status === 410) this.gone += 1;
    if (response.status !== 200) return;
    let rest = '';
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      const messages = (rest + chunk).split('\n\n');
      rest = messages.pop()!;
      for (const message of messages) this.#take(/^data: ?(.+)$/m.exec(message)?.[1]);
    }
  }

  #take(data: string | undefined): void {
    if (data === undefined) return;
    const { data: next, errors } = JSON.parse(data) as {
      readonly data?: { readonly events?: { readonly id: string } };
      readonly errors?: readonly { readonly extensions: { readonly code: string } }[];
    };
    if (errors?.some(({ extensions }) => extensions.code === 'EVENTS_GONE') === true) this.gone += 1;
    if (next?.events !== undefined) this.ids.push(next.events.id);
  }
}
