import { Migration } from '@mikro-orm/migrations';

/**
 * Keys have instants that every client can read: those of the years 1 to 9999, which leaves out `infinity`.
 *
 * The previous version runs on: it writes no others.
 */
export class KeyInstantsMigration extends Migration {
  override up(): void {
    // First, because a change that waits for the triggers' lock holds the table.
    this.addSql('lock table api_keys');
    this.addSql(`update api_keys set ${columns.map(withinYears).join(', ')}
      where ${earliestOf} < ${earliest} or ${latestOf} > ${latest}`);
    this.addSql(`alter table api_keys
      add constraint api_keys_years_1_to_9999 check (${earliestOf} >= ${earliest} and ${latestOf} <= ${latest})`);
  }

  override down(): void {
    this.addSql('alter table api_keys drop constraint api_keys_years_1_to_9999');
  }
}

const columns = ['created_at', 'expires_at', 'revoked_at', 'banned_until', 'previous_secret_expires_at'];
const earliest = `timestamptz '0001-01-01T00:00:00Z'`;
const latest = `timestamptz '9999-12-31T23:59:59.999Z'`;
// Both ignore null.
const earliestOf = `least(${columns.join(', ')})`;
const latestOf = `greatest(${columns.join(', ')})`;

/** A key that expires at `infinity` never does. */
function withinYears(column: string): string {
  return `${column} = case when ${column} < ${earliest} then ${earliest}
    when ${column} > ${latest} then ${column === 'expires_at' ? 'null' : latest} else ${column} end`;
}
