import { Migration } from '@mikro-orm/migrations';

/**
 * One row with the id of the database, which its counters in Redis are named after, and with the time line of its log and a
 * value that was made when it began: a standby that has the same has replayed the same history.
 */
export class InstallationMigration extends Migration {
  override up(): void {
    this.addSql(`
      create table installation (
        is_only boolean primary key default true check (is_only), id uuid not null default gen_random_uuid(),
        time_line text not null default '', history uuid not null default gen_random_uuid());
      insert into installation default values`);
  }

  override down(): void {
    this.addSql('drop table installation');
  }
}
