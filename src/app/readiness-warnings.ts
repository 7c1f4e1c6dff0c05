import { isUnavailable } from '../domain/errors.ts';
import type { Sequencer } from '../platform/feed/index.ts';
import type { RemoteWebhooks } from '../webhooks/remote-webhooks.ts';
import type { Webhooks } from '../webhooks/webhooks.ts';

export const sequencerFailures = {
  move: 'changes are not moved into the log of events',
  maintain: 'the log of events drops no old days',
};

interface Events {
  readonly sequencer: Pick<Sequencer, 'moveFailure'>;
  readonly webhooks: Pick<Webhooks | RemoteWebhooks, 'figures'> | undefined;
}

/** What `/readyz?verbose` says of events, as their metrics and the log do. */
export function warningsOf({ sequencer, webhooks }: Events): string[] {
  return [...stoppedEvents(sequencer), ...heldWebhooks(webhooks)];
}

/** In the words of PostgreSQL, unless it isn't reached, which `/readyz` says anyway. */
function stoppedEvents({ moveFailure }: Events['sequencer']): string[] {
  if (!(moveFailure instanceof Error) || isUnavailable(moveFailure)) return [];
  return [`${sequencerFailures.move}: ${moveFailure.message}`];
}

function heldWebhooks(webhooks: Events['webhooks']): string[] {
  const { held = 0 } = webhooks?.figures.endpoints ?? {};
  if (held === 0) return [];
  const endpoints = held === 1 ? '1 webhook endpoint is' : `${held} webhook endpoints are`;
  return [`${endpoints} held: WEBHOOK_SIGNING_KEY lacks the signing key of their secrets.`];
}
