import { defineEntity, p } from '@mikro-orm/core';

import type { EventPosition, EventType } from '../events/event.ts';
import type { Id } from '../id.ts';
import { versionOf } from '../version.ts';

const disabledReasons = ['GONE', 'FAILED_FOR_DAYS', 'KEY_ENDED'] as const;
export type DisabledReason = (typeof disabledReasons)[number];

const storedStates = ['active', 'paused', 'failing', 'disabled'] as const;

interface Refusal {
  readonly count: number;
  readonly wait: { readonly from: number; readonly until: number } | null;
}

const WebhookEndpointSchema = defineEntity({
  name: 'WebhookEndpoint',
  tableName: 'webhook_endpoints',
  properties: {
    id: p.bigint('string').$type<Id>().primary().generated('by default as identity'),
    /** The key that manages it; null where administrators do. */
    ownerId: p.bigint('string').$type<Id>().fieldName('owner_id').nullable(),
    url: p.text(),
    description: p.text().nullable(),
    /** The types that it is sent; null for all. */
    eventTypes: p.array().$type<EventType[]>().fieldName('event_types').nullable(),
    /** Whether events are sent without their object. */
    isThin: p.boolean().fieldName('is_thin'),
    maxInFlight: p.integer().fieldName('max_in_flight'),
    createdAt: p.datetime(3).fieldName('created_at'),
    isPaused: p.boolean().fieldName('is_paused').default(false),
    /** The fingerprint of the signing key that the secret was derived from. */
    signingKey: p.text().fieldName('signing_key'),
    secretVersion: p.integer().fieldName('secret_version').default(1),
    previousSecretVersion: p.integer().fieldName('previous_secret_version').nullable(),
    previousSecretExpiresAt: p.datetime(3).fieldName('previous_secret_expires_at').nullable(),
    /** Everything up to this event is done. */
    position: p.text().$type<EventPosition>(),
    /** Everything up to this event is sent once more. */
    replayedTo: p.text().$type<EventPosition>().fieldName('replayed_to').nullable(),
    /** By the ids of events after the position: how often, and when it is sent again; null when it isn't. */
    refusals: p.json<Readonly<Record<string, Refusal>>>().default('{}'),
    /** Since the last success. */
    failures: p.integer().default(0),
    failingSince: p.datetime(3).fieldName('failing_since').nullable(),
    failedAt: p.datetime(3).fieldName('failed_at').nullable(),
    nextAttemptAt: p.datetime(3).fieldName('next_attempt_at').nullable(),
    isHealthy: p.boolean().fieldName('is_healthy').default(true),
    disabledReason: p.enum(disabledReasons).fieldName('disabled_reason').nullable(),
    /** The database derives it. */
    state: p.enum(storedStates).persist(false),
    /** The process that delivers, and until when; the fence differs for each lease. */
    holder: p.uuid().nullable(),
    leasedUntil: p.datetime(6).fieldName('leased_until').nullable(),
    fence: p.bigint('string').default('0'),
  },
});

/** An endpoint that the log of events is sent to. Its secrets are derived from their version, and not stored. */
export class WebhookEndpoint extends WebhookEndpointSchema.class {}
WebhookEndpointSchema.setClass(WebhookEndpoint);

/** `held`: it would be sent to, but its signing key isn't one of those that are set. */
export type WebhookState = (typeof storedStates)[number] | 'held';

/** Without signing keys webhooks are off, and none is held. */
export function webhookStateOf(
  { state, signingKey }: Pick<WebhookEndpoint, 'state' | 'signingKey'>,
  signingKeys: readonly string[] | undefined,
): WebhookState {
  const wouldBeSentTo = state === 'active' || state === 'failing';
  return wouldBeSentTo && signingKeys?.includes(signingKey) === false ? 'held' : state;
}

export type HeldReason = 'SIGNING_KEY';

/** The version of the settings of administrators; deliveries don't change it, unless they disable the endpoint. */
export function webhookVersion(endpoint: WebhookEndpoint): string {
  const { id, url, description, eventTypes, isThin, maxInFlight, isPaused, disabledReason, secretVersion } = endpoint;
  const settings = { url, description, eventTypes, isThin, maxInFlight };
  return versionOf({ id, ...settings, isPaused, disabledReason, secretVersion });
}
