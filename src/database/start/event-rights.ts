/**
 * Takes rights to change the log of events from everybody but its owner, as the migrations do.
 *
 * A restore gives new tables what default privileges say, so this runs with every migration run, where nothing is
 * pending too. Without effect for a role that owns none of the tables.
 */
export const eventRights = `
  select petstore_protect_events(log.oid)
  from pg_class as log
  where (
      log.oid in ('events'::regclass, 'event_outbox'::regclass, 'event_backlog'::regclass, 'event_state'::regclass)
      or log.oid in (select inhrelid from pg_inherits where inhparent = 'events'::regclass)
    )
    and pg_has_role(log.relowner, 'usage')
    and exists (
      select from aclexplode(log.relacl) as granted
      where granted.grantee <> log.relowner and granted.privilege_type <> 'SELECT'
    )`;
