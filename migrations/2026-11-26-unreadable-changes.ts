import { Migration } from '@mikro-orm/migrations';

import { inThisSchema } from './2026-11-23-events/schema.ts';
import { moverByLogTime } from './2026-11-25-event-days.ts';

/**
 * A row of the outbox that can't become an event doesn't stop the log: it, and what is moved with it, is one
 * `store.resync`. The triggers write no such row, but somebody else may.
 *
 * The previous version runs on: it calls the same function.
 */
export class UnreadableChangesMigration extends Migration {
  override up(): void {
    this.addSql(inThisSchema(moverPastUnreadable));
  }

  override down(): void {
    this.addSql(inThisSchema(moverByLogTime));
  }
}

/** The next run moves the resynchronization, after all that it stands for. */
const moverPastUnreadable = moverByLogTime.replace('is_holder := true;', 'is_holder := true;\n    begin').replace(
  /end\s+\$\$$/,
  () => `exception when data_exception then
      raise warning 'Changes that can not become events are a store.resync: %', sqlerrm;
      delete from event_outbox where ctid = any (array(select ctid from event_outbox limit max_taken));
      delete from event_backlog where id in (select id from event_backlog order by id limit max_rows);
      insert into event_outbox (type) values ('store.resync');
      moved := 1;
    end;
  end
  $$`,
);
