import { pino } from 'pino';

import { readConfig } from '../../src/settings/config.ts';
import { Channel, type Handlers, type Message } from '../../src/platform/workers/channel.ts';
import { SlotCounts } from '../../src/platform/workers/slot-counts.ts';
import { QuotasOfWorkers } from '../../src/process/primary.ts';
import { type SharedParts, sharedParts } from '../../src/process/shared-parts.ts';

/** What a worker has of its primary, in this process: what is asked and answered is JSON on its way, as between two. */
export function hostedParts(environment: Readonly<Record<string, string>> = {}): SharedParts {
  const quotas = new QuotasOfWorkers(readConfig(environment), pino({ level: 'silent' }));
  const slots = new SlotCounts();
  const handlers: Record<string, Handlers[string]> = {};
  const worker: Channel = new Channel((message) => primary.receive(copyOf(message)), handlers);
  const primary: Channel = new Channel((message) => worker.receive(copyOf(message)), {
    ...quotas.handlersFor({ id: '1', ask: (name, value) => primary.ask(name, value) }),
    address: () => '',
  });
  return sharedParts({
    ask: (name, value) => worker.ask(name, value),
    handle: (name, handler) => {
      handlers[name] = handler!;
    },
    takeSlot: async (of, client, most) => slots.take(1, of, client, most),
    ready: async () => undefined,
    releaseSlot: (of, client) => slots.release(1, of, client),
  });
}

function copyOf(message: Message): Message {
  return JSON.parse(JSON.stringify(message)) as Message;
}
