import { Migration } from '@mikro-orm/migrations';

import { eventMaintenance, eventMover } from './2026-11-23-events/move.ts';
import { inThisSchema } from './2026-11-23-events/schema.ts';

/**
 * Where changes wait that are too many for one run of the mover, with an index by id and one by object: each run used
 * to read all of a large outbox, which never became small when that took longer than a statement may.
 *
 * The previous version runs on, and moves by way of the backlog, too. On the way down nothing is moved until the
 * migration before is taken back as well.
 */
export class EventBacklogMigration extends Migration {
  override up(): void {
    this.addSql(`create table event_backlog (like event_outbox, primary key (id))
      with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000)`);
    this.addSql('alter table event_state add column backlog_from bigint');
    this.addSql('create index event_backlog_object_id_idx on event_backlog (object_id)');
    this.addSql(`select petstore_protect_events('event_backlog')`);
    this.addSql(inThisSchema(eventMover));
    this.addSql(inThisSchema(eventMaintenance));
    // Only the triggers' functions call it, with the rights of its owner.
    this.addSql('revoke execute on function petstore_event_resync() from public');
  }

  override down(): void {
    // Or the mover, which may run on, would take what is copied.
    this.addSql('lock table event_backlog in access exclusive mode');
    this.addSql('grant execute on function petstore_event_resync() to public');
    this.addSql('insert into event_outbox overriding system value select * from event_backlog');
    this.addSql('drop table event_backlog');
    this.addSql('alter table event_state drop column backlog_from');
  }
}
