import { afterEach, expect } from '@jest/globals';
import { Webhook } from 'standardwebhooks';

import { received, type Received, startReceiver } from '../platform/egress/receiver.ts';

export interface ReceivedEvent {
  readonly id: string;
  readonly type: string;
  readonly data: Record<string, unknown>;
}

/** The status of a response; `count` is how many requests have come before, with this one. */
export type Temper = (event: ReceivedEvent, count: number) => number | Promise<number>;

/** A receiver that keeps what it gets. */
export class Inbox {
  readonly requests: Received[] = [];
  /** The events that it has responded 2xx to, in that order. */
  readonly accepted: ReceivedEvent[] = [];
  /** Those of them that a secret verified when they came. */
  readonly verified = new Set<Received>();
  /** What it may verify with. */
  readonly secrets: string[] = [];
  port = 0;

  static async start(temper: Temper = () => 204): Promise<Inbox> {
    const inbox = new Inbox();
    inbox.port = await startReceiver((request, response) => {
      void received(request).then(async (each) => {
        inbox.requests.push(each);
        // Later it may be too old to be verified.
        if (inbox.secrets.some((secret) => isVerified(secret, each))) inbox.verified.add(each);
        const event = eventOf(each);
        const status = await temper(event, inbox.requests.length);
        if (status < 300) inbox.accepted.push(event);
        response.writeHead(status).end();
      });
    });
    inboxes.push(inbox);
    return inbox;
  }

  get url(): string {
    return `https://localhost:${this.port}/hook`;
  }

  events(): ReceivedEvent[] {
    return this.requests.map(eventOf);
  }
}

/** Whether the library of Standard Webhooks verifies it, as of now. */
export function isVerified(secret: string, { body, headers }: Received): boolean {
  try {
    new Webhook(secret).verify(body, headers as Record<string, string>);
    return true;
  } catch {
    return false;
  }
}

function eventOf({ headers, body }: Received): ReceivedEvent {
  const { type, data } = JSON.parse(body) as Omit<ReceivedEvent, 'id'>;
  return { id: String(headers['webhook-id']), type, data };
}

const inboxes: Inbox[] = [];

// Every delivery of every test.
afterEach(() => {
  for (const { secrets, requests, verified } of inboxes.splice(0)) {
    const forged = requests.filter(
      (each) => !verified.has(each) && !secrets.some((secret) => isVerified(secret, each)),
    );
    expect(forged).toEqual([]);
  }
});
