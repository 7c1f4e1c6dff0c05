import { defineEntity, p } from '@mikro-orm/core';

import type { Id } from '../id.ts';

const KeyUseSchema = defineEntity({
  name: 'KeyUse',
  tableName: 'api_key_use',
  properties: {
    keyId: p.bigint('string').$type<Id>().fieldName('key_id').primary(),
    isDay: p.boolean().fieldName('is_day').primary(),
    startsAt: p.datetime(0).fieldName('starts_at').primary(),
    requests: p.integer(),
    cost: p.bigint('number'),
    refusedByQuota: p.integer().fieldName('refused_by_quota'),
    refusedByBan: p.integer().fieldName('refused_by_ban'),
    /** Other statuses from 400. */
    clientErrors: p.integer().fieldName('client_errors'),
    /** Statuses from 500. */
    serverErrors: p.integer().fieldName('server_errors'),
    writes: p.integer(),
    deprecatedUses: p.integer().fieldName('deprecated_uses'),
    /** Requests of which no entry is kept. */
    omitted: p.integer(),
  },
});

/** What a key has used in an hour or in a day, UTC. */
export class KeyUse extends KeyUseSchema.class {}
KeyUseSchema.setClass(KeyUse);
