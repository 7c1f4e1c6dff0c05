import { defineEntity, p } from '@mikro-orm/core';

const InstallationSchema = defineEntity({
  name: 'Installation',
  tableName: 'installation',
  properties: {
    isOnly: p.boolean().fieldName('is_only').primary(),
    id: p.uuid(),
  },
});

/** The one row that names a database: its counters in Redis are named after it. */
export class Installation extends InstallationSchema.class {}
InstallationSchema.setClass(Installation);
