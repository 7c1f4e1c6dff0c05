import { defineEntity, p } from '@mikro-orm/core';

import type { Id } from '../id.ts';

const protocols = ['graphql', 'rest'] as const;
export type Protocol = (typeof protocols)[number];

const quotaWindows = ['minute', 'day'] as const;
export type QuotaWindow = (typeof quotaWindows)[number];

const KeyRequestSchema = defineEntity({
  name: 'KeyRequest',
  tableName: 'api_key_requests',
  properties: {
    id: p.bigint('string').$type<Id>().primary().generated('by default as identity'),
    keyId: p.bigint('string').$type<Id>().fieldName('key_id'),
    at: p.datetime(3),
    requestId: p.text().fieldName('request_id'),
    protocol: p.enum(protocols),
    /** REST's operation id; in GraphQL the operation's name, or else its root fields. */
    operation: p.text(),
    /** Of a GraphQL request the highest among its errors. */
    status: p.integer(),
    code: p.text().nullable(),
    /** The window of the quota that refused it, and how much that allows. */
    refusedBy: p.enum(quotaWindows).fieldName('refused_by').nullable(),
    quotaLimit: p.integer().fieldName('quota_limit').nullable(),
    /** In seconds. */
    retryAfter: p.integer().fieldName('retry_after').nullable(),
    /** What it has taken from the quota. */
    cost: p.integer(),
    durationMillis: p.integer().fieldName('duration_millis'),
    hasIdempotencyKey: p.boolean().fieldName('has_idempotency_key'),
    address: p.text().nullable(),
    clientName: p.text().fieldName('client_name').nullable(),
    clientVersion: p.text().fieldName('client_version').nullable(),
    /** Of a client that doesn't tell its name. */
    userAgent: p.text().fieldName('user_agent').nullable(),
  },
});

/** A request that was sent with a key. Never a body, a variable or a secret. */
export class KeyRequest extends KeyRequestSchema.class {}
KeyRequestSchema.setClass(KeyRequest);
