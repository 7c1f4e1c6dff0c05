import { Migration } from '@mikro-orm/migrations';

/** One row with the id of the database, which its counters in Redis are named after. */
export class InstallationMigration extends Migration {
  override up(): void {
    this.addSql(`
      create table installation (
        is_only boolean primary key default true check (is_only), id uuid not null default gen_random_uuid());
      insert into installation default values`);
  }

  override down(): void {
    this.addSql('drop table installation');
  }
}
