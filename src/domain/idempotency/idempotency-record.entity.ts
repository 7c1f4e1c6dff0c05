import { defineEntity, p } from '@mikro-orm/core';

/** A stored result: any JSON value. Only the caller interprets it. */
export type StoredResult = Readonly<Record<string, unknown>>;

const IdempotencyRecordSchema = defineEntity({
  name: 'IdempotencyRecord',
  tableName: 'idempotency_records',
  properties: {
    principalId: p.text().fieldName('principal_id').primary(),
    key: p.text().primary(),
    /** The response name of a root field; others are in `idempotency.service.ts`. */
    field: p.text().primary(),
    fingerprint: p.text(),
    result: p.json().$type<StoredResult>(),
    createdAt: p.datetime(3).fieldName('created_at'),
  },
});

/** A result of the first request with an idempotency key. Keys are scoped to their principal. */
export class IdempotencyRecord extends IdempotencyRecordSchema.class {}
IdempotencyRecordSchema.setClass(IdempotencyRecord);
