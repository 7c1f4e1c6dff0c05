import { defineEntity, p } from '@mikro-orm/core';

import type { Id } from '../id.ts';

const webhookFailures = ['DNS', 'CONNECT', 'TLS', 'TIMEOUT', 'FORBIDDEN_ADDRESS', 'PROTOCOL', 'TOO_LARGE'] as const;
export type WebhookFailure = (typeof webhookFailures)[number];

const WebhookAttemptSchema = defineEntity({
  name: 'WebhookAttempt',
  tableName: 'webhook_attempts',
  properties: {
    id: p.bigint('string').$type<Id>().primary().generated('by default as identity'),
    endpointId: p.bigint('string').$type<Id>().fieldName('endpoint_id'),
    eventId: p.text().fieldName('event_id'),
    at: p.datetime(3),
    /** Null when there was no response. */
    status: p.integer().nullable(),
    failure: p.enum(webhookFailures).nullable(),
    /** In words, for people. */
    cause: p.text().nullable(),
    durationMillis: p.integer().fieldName('duration_millis'),
    /** How often the event was refused; null for any other attempt. */
    refusals: p.integer().nullable(),
  },
});

/** One attempt to send an event to an endpoint. Neither body is kept. */
export class WebhookAttempt extends WebhookAttemptSchema.class {}
WebhookAttemptSchema.setClass(WebhookAttempt);

export type AttemptResult = 'delivered' | 'refused' | 'failed';

export function resultOf({ status, refusals }: Partial<Pick<WebhookAttempt, 'status' | 'refusals'>>): AttemptResult {
  if (typeof refusals === 'number') return 'refused';
  return typeof status === 'number' && status >= 200 && status < 300 ? 'delivered' : 'failed';
}
