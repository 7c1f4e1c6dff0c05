import { defineEntity, p } from '@mikro-orm/core';

/** A response as it is kept and given again. */
export interface KeptAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const IdempotencyRecordSchema = defineEntity({
  name: 'IdempotencyRecord',
  tableName: 'idempotency_records',
  properties: {
    principalId: p.text().fieldName('principal_id').primary(),
    key: p.text().primary(),
    fingerprint: p.text(),
    answer: p.json().$type<KeptAnswer>(),
    createdAt: p.datetime(3).fieldName('created_at'),
  },
});

/** What was answered to an idempotency key. The keys of two principals have nothing to do with each other. */
export class IdempotencyRecord extends IdempotencyRecordSchema.class {}
IdempotencyRecordSchema.setClass(IdempotencyRecord);
