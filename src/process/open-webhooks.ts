import type { Database } from '../database/database.ts';
import type { Caller } from '../platform/callers/index.ts';
import type { Config } from '../settings/config.ts';
import { type Deliverer, RemoteWebhooks } from '../webhooks/remote-webhooks.ts';
import { Webhooks } from '../webhooks/webhooks.ts';

interface Overrides {
  readonly deliverer?: Deliverer | undefined;
  readonly nameServers?: readonly string[];
}

/** The webhooks of this process, or those of the process that delivers. Undefined without a signing key: they are off. */
export function openWebhooks(
  config: Config,
  { deliverer, nameServers }: Overrides,
  database: Database,
  caller: Caller,
): Webhooks | RemoteWebhooks | undefined {
  const { signingKeys, ...rules } = config.webhooks;
  if (signingKeys.length === 0) return undefined;
  if (deliverer !== undefined) return new RemoteWebhooks(signingKeys, rules, deliverer);
  return new Webhooks({
    stores: database.stores.for(caller),
    leases: database.webhookLeases(caller),
    signingKeys,
    destinations: { ...rules, nameServers },
    prefix: config.restPrefix,
  });
}
