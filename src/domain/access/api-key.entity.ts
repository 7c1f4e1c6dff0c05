import { ArrayType, defineEntity, p } from '@mikro-orm/core';

import type { Id } from '../id.ts';
import type { KeyHash } from './api-key.ts';
import { planNames } from './plan.ts';

const ApiKeySchema = defineEntity({
  name: 'ApiKey',
  tableName: 'api_keys',
  properties: {
    id: p.bigint('string').$type<Id>().primary().generated('by default as identity'),
    name: p.text(),
    /** The beginning of the key, which may be shown. */
    prefix: p.text(),
    sha256: p.text().$type<KeyHash>(),
    /** The hash of the secret before the latest rotation. */
    previousSha256: p.text().$type<KeyHash>().fieldName('previous_sha256').nullable(),
    /** When the previous secret expires, if the key doesn't expire first. */
    previousSecretExpiresAt: p.datetime(3).fieldName('previous_secret_expires_at').nullable(),
    plan: p.enum(planNames),
    requestsPerMinute: p.integer().fieldName('requests_per_minute').nullable(),
    requestsPerDay: p.integer().fieldName('requests_per_day').nullable(),
    /** Those of a newer version, too. */
    scopes: p.text().array(),
    createdAt: p.datetime(3).fieldName('created_at'),
    expiresAt: p.datetime(3).fieldName('expires_at').nullable(),
    revokedAt: p.datetime(3).fieldName('revoked_at').nullable(),
    bannedUntil: p.datetime(3).fieldName('banned_until').nullable(),
    /** Grows whenever an operator bans or unbans. */
    banEpoch: p.integer().fieldName('ban_epoch').default(0),
    /** When the automatic bans of the last day began, in milliseconds since 1970. */
    automaticBans: p
      .type(new ArrayType(Number))
      .$type<number[]>()
      .columnType('bigint[]')
      .fieldName('automatic_bans')
      .default([]),
  },
});

/** A key is never deleted, so that logs and history can still name it. Its secret is stored as a hash. */
export class ApiKey extends ApiKeySchema.class {}
ApiKeySchema.setClass(ApiKey);
