import { Migration } from '@mikro-orm/migrations';

import { eventMaintenanceByDay, eventMoverByDay, partitionDay } from './2026-11-25-event-days/days.ts';
import { eventMaintenance } from './2026-11-23-events/move.ts';
import { inThisSchema } from './2026-11-23-events/schema.ts';
import { eventMover } from './2026-11-25-event-halves.ts';

/**
 * Partitions of the log know the day in which they were begun, so that a clock that was wrong for a while neither drops
 * events early nor keeps later ones beyond their retention.
 *
 * The previous version runs on: it calls the same functions.
 */
export class EventDaysMigration extends Migration {
  override up(): void {
    this.addSql('drop function petstore_maintain_events(interval)');
    for (const text of [partitionDay, eventMoverByDay, eventMaintenanceByDay]) this.addSql(inThisSchema(text));
    this.addSql('revoke execute on function petstore_maintain_events(interval, timestamptz) from public');
  }

  override down(): void {
    this.addSql('drop function petstore_maintain_events(interval, timestamptz)');
    for (const text of [eventMover, eventMaintenance]) this.addSql(inThisSchema(text));
    this.addSql('drop function petstore_event_day(regclass)');
    this.addSql('revoke execute on function petstore_maintain_events(interval) from public');
  }
}
