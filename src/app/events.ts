import { EventStreams } from '../graphql/streams/event-streams.ts';
import { webhookEvents } from '../http/observe/webhook-events.ts';
import { Sequencer } from '../platform/feed/index.ts';
import { RemoteWebhooks } from '../webhooks/remote-webhooks.ts';
import { Webhooks } from '../webhooks/webhooks.ts';
import type { Access } from './access.ts';
import type { Base } from './base.ts';
import { sequencerFailures } from './readiness-warnings.ts';

export type Events = ReturnType<typeof openEvents>;

/** The log of changes, its streams and webhooks. */
export function openEvents(base: Base, { keys, quota }: Access) {
  const { config, overrides, log, metrics, onRefusal, callers, database } = base;
  const streams = new EventStreams({
    keys,
    quota,
    now: () => database.clock.now(),
    stores: database.stores,
    callers,
    maxStreams: config.maxStreams,
    everywhere: overrides.shared?.slots,
    onRefusal,
    onFailure: (error) => log.error({ err: error }, 'streams cannot read or write events'),
    terms: overrides.streamTerms,
  });
  const sequencer = new Sequencer({
    moves: database.eventMoves(callers.service('event sequencer')),
    retentionSeconds: config.eventsRetentionSeconds,
    onMoved: () => streams.readNow(),
    onFailure: (what, error) => log.warn({ err: error }, sequencerFailures[what]),
  });
  sequencer.start();
  const { onSwitched, ...deliveryEvents } = webhookEvents(log, metrics);
  const webhooks = openWebhooks(base);
  const webhookObserver = {
    onSwitched,
    onChange: async () => webhooks?.applyChanges(),
    onRotated: async () => webhooks?.applyRotation(),
  };
  return { streams, sequencer, webhooks, webhookObserver, deliveryEvents };
}

/** Those of this process, or of the process that delivers. Undefined without a signing key: they are off. */
function openWebhooks({ config, overrides, callers, database }: Base): Webhooks | RemoteWebhooks | undefined {
  const { deliverer, nameServers } = overrides;
  if (config.webhooks.signingKeys.length === 0) return undefined;
  if (deliverer !== undefined) return new RemoteWebhooks(config.webhooks, deliverer);
  const caller = callers.service('webhooks');
  return new Webhooks({
    stores: database.stores.for(caller),
    leases: database.webhookLeases(caller),
    settings: { ...config.webhooks, nameServers },
    prefix: config.restPrefix,
  });
}
