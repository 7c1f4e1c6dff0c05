import { Migration } from '@mikro-orm/migrations';

/**
 * One row with the id of the database, which its counters in Redis are named after.
 *
 * The previous version names its counters without it, and runs on beside this one: in a database that it has used, its
 * names are good for another day.
 */
export class InstallationMigration extends Migration {
  override up(): void {
    this.addSql(`create table installation (
      is_only boolean primary key default true check (is_only),
      id uuid not null default gen_random_uuid(),
      previous_names_until timestamptz(3)
    )`);
    this.addSql(`insert into installation (previous_names_until)
      select now() + interval '1 day'
      where exists (select from petstore_migrations where executed_at < now() - interval '1 second')
      union all select null limit 1`);
  }

  override down(): void {
    this.addSql('drop table installation');
  }
}
