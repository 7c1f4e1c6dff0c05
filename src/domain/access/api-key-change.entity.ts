import { defineEntity, p } from '@mikro-orm/core';

import type { Id } from '../id.ts';

const keyActions = [
  'created',
  'updated',
  'rotated',
  'plan_changed',
  'banned',
  'unbanned',
  'revoked',
  'forgotten',
  'deleted',
] as const;

export type KeyAction = (typeof keyActions)[number];

/** The old and the new value of each property. Never a secret or its hash. */
export type Changes = Readonly<Record<string, { readonly from?: unknown; readonly to?: unknown }>>;

const ApiKeyChangeSchema = defineEntity({
  name: 'ApiKeyChange',
  tableName: 'api_key_history',
  properties: {
    id: p.bigint('string').$type<Id>().primary().generated('by default as identity'),
    keyId: p.bigint('string').$type<Id>().fieldName('key_id'),
    at: p.datetime(3),
    /** The id of a key, `ADMIN_API_KEY`, `cli`, `service`, or `sql` for a change made directly in the database. */
    by: p.text().fieldName('changed_by'),
    action: p.enum(keyActions),
    changes: p.json().$type<Changes>(),
  },
});

/** An entry in the history of a key. The database writes it, in the transaction of the change. */
export class ApiKeyChange extends ApiKeyChangeSchema.class {}
ApiKeyChangeSchema.setClass(ApiKeyChange);

/** Describes a change, one line per property: `plan: free → pro`. */
export function describeChanges({ changes }: Pick<ApiKeyChange, 'changes'>): string[] {
  return Object.entries(changes).map(([property, { from, to }]) => {
    return isUnset(from) ? `${property}: ${described(to)}` : `${property}: ${described(from)} → ${described(to)}`;
  });
}

function described(value: unknown): string {
  if (isUnset(value)) return 'none';
  return Array.isArray(value) ? value.join(',') : String(value);
}

export function isUnset(value: unknown): boolean {
  return value === null || value === undefined;
}
