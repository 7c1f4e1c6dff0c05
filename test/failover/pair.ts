import { atEnd } from '../support/at-end.ts';
import { runSql } from '../support/postgres-client.ts';
import { PostgresCluster } from '../support/postgres-cluster.ts';
import { until } from '../support/until.ts';

/** Two servers, one the other's standby; they change roles, and stay at their ports. Removed when the file ends. */
export class Pair {
  primary: PostgresCluster;
  standby: PostgresCluster;

  static async start(): Promise<Pair> {
    const primary = await PostgresCluster.create();
    return new Pair(primary, await primary.addStandby());
  }

  private constructor(primary: PostgresCluster, standby: PostgresCluster) {
    this.primary = primary;
    this.standby = standby;
    atEnd(() => [this.standby, this.primary].forEach((server) => server.remove()));
  }

  /** The standby is named first. */
  urlOf(database = 'postgres'): string {
    return `postgresql://postgres:petstore@${this.hosts}/${database}`;
  }

  get hosts(): string {
    return [this.standby, this.primary].map(({ port }) => `127.0.0.1:${port}`).join(',');
  }

  /** What was acknowledged is on the standby, as it would be synchronously. */
  async untilReplicated(): Promise<void> {
    const caughtUp = 'select replay_lsn = pg_current_wal_lsn() as "isCaughtUp" from pg_stat_replication';
    await until(async () => (await runSql(this.primary.url, caughtUp))[0]?.['isCaughtUp'] === true);
  }

  /** The standby is promoted, and the old primary, which has stopped, comes back as its standby. */
  switchRoles(): void {
    this.standby.promote();
    this.primary.follow(this.standby);
    [this.primary, this.standby] = [this.standby, this.primary];
  }
}
