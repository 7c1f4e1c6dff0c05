import type { FastifyBaseLogger } from 'fastify';

import type { WebhookEndpoint } from '../../domain/webhooks/webhook-endpoint.entity.ts';
import type { Metrics } from './metrics.ts';

/** An endpoint, as the log names it: by its id and the host, because a URL may have a secret in its path. */
interface NamedEndpoint {
  readonly id: string;
  readonly url: string;
}

interface AttemptFigures {
  readonly status?: number | undefined;
  readonly failure?: string | undefined;
  readonly cause?: string | undefined;
}

export function webhookEvents(log: FastifyBaseLogger, metrics: Metrics) {
  return {
    onAttempt: (outcome: string): void => metrics.webhookAttempts.inc({ result: outcome }),
    onFailing: (endpoint: NamedEndpoint, { status, failure, cause }: AttemptFigures): void =>
      log.warn({ ...named(endpoint), status, failure, cause }, 'webhook endpoint fails'),
    onRecovered: (endpoint: NamedEndpoint): void => log.info(named(endpoint), 'webhook endpoint accepts events again'),
    onDisabled: (endpoint: NamedEndpoint, reason: string): void =>
      log.error({ ...named(endpoint), reason }, 'webhook endpoint is disabled'),
    onKeyEnded: (endpoint: NamedEndpoint): void =>
      log.warn({ ...named(endpoint), reason: 'KEY_ENDED' }, 'webhook endpoint is disabled'),
    onHeld: (count: number): void =>
      count === 0
        ? log.info('no webhook endpoint is held any more')
        : log.error(
            { count },
            'webhook endpoints are held: WEBHOOK_SIGNING_KEY lacks the signing key of their secrets',
          ),
    onSwitched: (endpoint: WebhookEndpoint, by: string): void =>
      log.info({ ...named(endpoint), by }, `webhook endpoint is ${endpoint.state}`),
    onFailure: (error: unknown): void => log.error({ err: error }, 'webhooks are not delivered'),
  };
}

function named({ id, url }: NamedEndpoint): object {
  return { webhook: id, host: new URL(url).host };
}
