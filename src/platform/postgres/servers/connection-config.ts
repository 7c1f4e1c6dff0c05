import pg, { type ClientConfig } from 'pg';

/** An address as node-postgres wants it; its host is the directory of a Unix socket. */
export interface PostgresAddress {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
}

/**
 * The requirement of a connection on its server: that transactions may write, that it is no standby, or that it is one,
 * with nothing between.
 */
export type TargetSession = 'read-write' | 'primary' | 'standby';

export type ConnectionConfig = ClientConfig & {
  readonly connectTimeoutMillis?: number | undefined;
  /** Of several hosts, `host` and `port` are the first. */
  readonly hosts?: readonly { readonly host: string | undefined; readonly port: number | undefined }[] | undefined;
  /** As libpq's `target_session_attrs`; undefined for any server. */
  readonly targetSession?: TargetSession | undefined;
  /** As libpq's `load_balance_hosts=random`. */
  readonly isBalanced?: boolean | undefined;
};

/** A host with its port, and the database on it, as a connection of this configuration goes to. */
interface Target {
  readonly host: string;
  readonly port: number;
  readonly name: string;
  /** Undefined where neither a database nor a user is named. */
  readonly database: string | undefined;
}

/** Where connections of this configuration go to, in its order; with the defaults, which `pg` knows. */
export function targetsOf(config: ConnectionConfig): readonly Target[] {
  const hosts = config.hosts ?? [{ host: config.host, port: config.port }];
  return hosts.map((each) => {
    const { host, port, database } = new pg.Client({ ...config, ...each });
    return { host, port, name: host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`, database };
  });
}
