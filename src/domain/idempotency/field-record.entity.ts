import { defineEntity, p } from '@mikro-orm/core';

import type { StoredResult } from './idempotency-record.entity.ts';

const FieldRecordSchema = defineEntity({
  name: 'FieldRecord',
  tableName: 'graphql_idempotency_records',
  properties: {
    principalId: p.text().fieldName('principal_id').primary(),
    key: p.text().primary(),
    /** Empty for a whole operation. */
    field: p.text().primary(),
    fingerprint: p.text(),
    result: p.json().$type<StoredResult>().fieldName('payload'),
    createdAt: p.datetime(3).fieldName('created_at'),
  },
});

/** The result of a root field of the first operation with an idempotency key. */
export class FieldRecord extends FieldRecordSchema.class {}
FieldRecordSchema.setClass(FieldRecord);
