import { Migration } from '@mikro-orm/migrations';

/** Plans are the program's: the database has no list of their names, and doesn't know which have figures of their own. */
export class PlansMigration extends Migration {
  override up(): void {
    this.addSql(`
      alter table api_keys
        drop constraint api_keys_plan_check, drop constraint api_keys_check, drop constraint api_keys_check1,
        add constraint api_keys_both_figures
          check ((requests_per_minute is null) = (requests_per_day is null)) not valid`);
    this.addSql('alter table api_keys validate constraint api_keys_both_figures');
  }

  /** Keys of plans that the version before doesn't know stay. */
  override down(): void {
    this.addSql(`
      alter table api_keys
        drop constraint api_keys_both_figures,
        add constraint api_keys_plan_check check (plan in ('free', 'pro', 'business', 'enterprise')) not valid,
        add constraint api_keys_check check ((plan = 'enterprise') = (requests_per_minute is not null)) not valid,
        add constraint api_keys_check1 check ((plan = 'enterprise') = (requests_per_day is not null)) not valid`);
  }
}
