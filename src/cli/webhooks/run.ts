import type { Config } from '../../settings/config.ts';
import type { Environment } from '../../settings/setting-reader.ts';
import type { Database } from '../../database/database.ts';
import { operator } from '../../domain/access/principal.ts';
import { WebhookService } from '../../domain/webhooks/webhook.service.ts';
import { Callers } from '../../platform/callers/index.ts';
import { Webhooks } from '../../webhooks/webhooks.ts';
import { runCommandLine } from '../command-line.ts';
import { commands } from './commands.ts';

/** Runs `webhooks` with these arguments, and returns the exit code. */
export function runWebhooks(args: readonly string[], environment?: Environment): Promise<number> {
  return runCommandLine(
    {
      name: 'webhooks',
      idName: 'the id of an endpoint',
      commands,
      introduction:
        'Manages webhook endpoints. What it changes holds in every running process within two seconds; those send\n' +
        'the events. It needs the WEBHOOK_SIGNING_KEY of the service, and `webhooks secret` makes one.',
      serve,
    },
    args,
    environment,
  );
}

function serve(database: Database, config: Config) {
  const caller = new Callers().service('webhooks');
  const stores = database.stores.for(caller);
  const { webhooks: settings, restPrefix: prefix } = config;
  const leases = database.webhookLeases(caller);
  const outlet = settings.signingKeys.length === 0 ? undefined : new Webhooks({ stores, leases, settings, prefix });
  return {
    service: new WebhookService(stores, operator, outlet),
    now: stores.clock.now(),
    close: async () => outlet?.stop(),
  };
}
