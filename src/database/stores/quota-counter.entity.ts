import { defineEntity, p } from '@mikro-orm/core';

const QuotaCounterSchema = defineEntity({
  name: 'QuotaCounter',
  tableName: 'quota_counters',
  properties: {
    subjectId: p.text().fieldName('subject_id').primary(),
    openedAt: p.bigint('string').fieldName('opened_at'),
    spent: p.integer(),
  },
});

/** The requests that a key, or `ADMIN_API_KEY`, has spent of its day. Instants are milliseconds since 1970. */
export class QuotaCounter extends QuotaCounterSchema.class {}
QuotaCounterSchema.setClass(QuotaCounter);
