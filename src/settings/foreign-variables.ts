/** Read by `pg` for what the service doesn't do: another protocol, another driver, another format of `.pgpass`. */
const unsupported = new Set(['PGREPLICATION', 'PGBINARY', 'PGPASS_NO_DEESCAPE', 'NODE_PG_FORCE_NATIVE']);

/**
 * Imported before the libraries that read the environment by themselves: what isn't a setting of the service must not
 * change it. MikroORM reads `MIKRO_ORM_*` for each option that isn't passed (7.2), and `pg` reads `PG*` (8.23), which
 * are for a server: the embedded database reads none of them.
 */
const { env } = process;
const isForeign = (name: string): boolean =>
  name.startsWith('MIKRO_ORM_') || unsupported.has(name) || (!env['DATABASE_URL'] && name.startsWith('PG'));
for (const name of Object.keys(env).filter(isForeign)) delete env[name];
