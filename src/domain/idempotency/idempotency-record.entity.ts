import { defineEntity, p } from '@mikro-orm/core';

/** A result as it is stored: whatever JSON can write. What is in it is the caller's business. */
export type StoredResult = Readonly<Record<string, unknown>>;

const IdempotencyRecordSchema = defineEntity({
  name: 'IdempotencyRecord',
  tableName: 'idempotency_records',
  properties: {
    principalId: p.text().fieldName('principal_id').primary(),
    key: p.text().primary(),
    fingerprint: p.text(),
    result: p.json().$type<StoredResult>().fieldName('answer'),
    createdAt: p.datetime(3).fieldName('created_at'),
  },
});

/** The result of the first request with an idempotency key. The keys of two principals have nothing to do with each other. */
export class IdempotencyRecord extends IdempotencyRecordSchema.class {}
IdempotencyRecordSchema.setClass(IdempotencyRecord);
