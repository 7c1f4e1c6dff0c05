import { defineEntity, p } from '@mikro-orm/core';

import type { EventPosition, EventType } from '../events/event.ts';
import type { Id } from '../id.ts';
import { versionOf } from '../version.ts';

const disabledReasons = ['GONE', 'FAILED_FOR_DAYS'] as const;
export type DisabledReason = (typeof disabledReasons)[number];

const WebhookEndpointSchema = defineEntity({
  name: 'WebhookEndpoint',
  tableName: 'webhook_endpoints',
  properties: {
    id: p.bigint('string').$type<Id>().primary().generated('by default as identity'),
    url: p.text(),
    description: p.text().nullable(),
    /** The types that it is sent; null for all. */
    eventTypes: p.array().$type<EventType[]>().fieldName('event_types').nullable(),
    /** Whether events are sent without their object. */
    isThin: p.boolean().fieldName('is_thin'),
    maxInFlight: p.integer().fieldName('max_in_flight'),
    createdAt: p.datetime(3).fieldName('created_at'),
    isPaused: p.boolean().fieldName('is_paused').default(false),
    secretVersion: p.integer().fieldName('secret_version').default(1),
    previousSecretVersion: p.integer().fieldName('previous_secret_version').nullable(),
    previousSecretExpiresAt: p.datetime(3).fieldName('previous_secret_expires_at').nullable(),
    /** Everything up to this event is done. */
    position: p.text().$type<EventPosition>(),
    /** Since the last success. */
    failures: p.integer().default(0),
    failingSince: p.datetime(3).fieldName('failing_since').nullable(),
    nextAttemptAt: p.datetime(3).fieldName('next_attempt_at').nullable(),
    isHealthy: p.boolean().fieldName('is_healthy').default(true),
    disabledReason: p.enum(disabledReasons).fieldName('disabled_reason').nullable(),
    /** The process that delivers, and until when; the fence differs for each lease. */
    holder: p.uuid().nullable(),
    leasedUntil: p.datetime(6).fieldName('leased_until').nullable(),
    fence: p.bigint('string').default('0'),
  },
});

/** An endpoint that the log of events is sent to. Its secrets are derived from their version, and not stored. */
export class WebhookEndpoint extends WebhookEndpointSchema.class {}
WebhookEndpointSchema.setClass(WebhookEndpoint);

export type WebhookState = 'active' | 'paused' | 'failing' | 'disabled';

export function stateOf({ disabledReason, isPaused, nextAttemptAt }: WebhookEndpoint): WebhookState {
  if (disabledReason !== null) return 'disabled';
  if (isPaused) return 'paused';
  return nextAttemptAt === null ? 'active' : 'failing';
}

/** The version of the settings of administrators; deliveries don't change it, unless they disable the endpoint. */
export function webhookVersion(endpoint: WebhookEndpoint): string {
  const { id, url, description, eventTypes, isThin, maxInFlight, isPaused, disabledReason, secretVersion } = endpoint;
  const settings = { url, description, eventTypes, isThin, maxInFlight };
  return versionOf({ id, ...settings, isPaused, disabledReason, secretVersion });
}
