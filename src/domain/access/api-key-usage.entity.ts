import { defineEntity, p } from '@mikro-orm/core';

import type { Id } from '../id.ts';

const ApiKeyUsageSchema = defineEntity({
  name: 'ApiKeyUsage',
  tableName: 'api_key_usage',
  properties: {
    keyId: p.bigint('string').$type<Id>().fieldName('key_id').primary(),
    lastUsedAt: p.bigint('string').fieldName('last_used_at'),
    minuteOpenedAt: p.bigint('string').fieldName('minute_opened_at'),
    minuteSpent: p.integer().fieldName('minute_spent'),
    dayOpenedAt: p.bigint('string').fieldName('day_opened_at'),
    daySpent: p.integer().fieldName('day_spent'),
  },
});

/** The last saved usage of a key. Instants are milliseconds since 1970; 0 for a window that wasn't open. */
export class ApiKeyUsage extends ApiKeyUsageSchema.class {}
ApiKeyUsageSchema.setClass(ApiKeyUsage);
