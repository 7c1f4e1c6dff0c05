import { defineEntity, p } from '@mikro-orm/core';

import type { Id } from '../id.ts';

const DeprecatedUseSchema = defineEntity({
  name: 'DeprecatedUse',
  tableName: 'api_key_deprecated_use',
  properties: {
    keyId: p.bigint('string').$type<Id>().fieldName('key_id').primary(),
    /** A schema coordinate (`Pet.inventory`), or a route of REST (`GET /pets/{petId}`). */
    coordinate: p.text().primary(),
    day: p.datetime(0).primary(),
    uses: p.integer(),
    lastUsedAt: p.datetime(3).fieldName('last_used_at'),
    sunset: p.datetime(0),
  },
});

/** How often a key has used something deprecated on a day, UTC. */
export class DeprecatedUse extends DeprecatedUseSchema.class {}
DeprecatedUseSchema.setClass(DeprecatedUse);
