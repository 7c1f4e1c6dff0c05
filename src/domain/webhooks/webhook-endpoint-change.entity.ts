import { defineEntity, p } from '@mikro-orm/core';

import type { Changes } from '../access/api-key-change.entity.ts';
import type { Id } from '../id.ts';

const webhookActions = ['created', 'updated', 'replayed', 'deleted'] as const;
export type WebhookAction = (typeof webhookActions)[number];

const WebhookEndpointChangeSchema = defineEntity({
  name: 'WebhookEndpointChange',
  tableName: 'webhook_endpoint_history',
  properties: {
    id: p.bigint('string').$type<Id>().primary().generated('by default as identity'),
    endpointId: p.bigint('string').$type<Id>().fieldName('endpoint_id'),
    at: p.datetime(3),
    /** As in the history of keys. */
    by: p.text().fieldName('changed_by'),
    action: p.enum(webhookActions),
    changes: p.json().$type<Changes>(),
  },
});

/** An entry in the history of an endpoint. The database writes all but `replayed`, in the transaction of the change. */
export class WebhookEndpointChange extends WebhookEndpointChangeSchema.class {}
WebhookEndpointChangeSchema.setClass(WebhookEndpointChange);
