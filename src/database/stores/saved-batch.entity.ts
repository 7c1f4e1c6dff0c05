import { defineEntity, p } from '@mikro-orm/core';

const SavedBatchSchema = defineEntity({
  name: 'SavedBatch',
  tableName: 'api_request_batches',
  properties: {
    writer: p.uuid().primary(),
    number: p.bigint('number'),
    at: p.datetime(3),
  },
});

/** The last batch of requests that a process has saved. */
export class SavedBatch extends SavedBatchSchema.class {}
SavedBatchSchema.setClass(SavedBatch);
