import { execFileSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { spawnChild } from '../../support/child-process.ts';
import { findFreePort } from '../../support/free-port.ts';
import { runSql } from '../../support/postgres-client.ts';
import { programPath, signalTo } from '../../support/postgres-cluster.ts';
import { Network } from './network.ts';

/** How a cluster detects that its primary is gone: shorter than Patroni's defaults (30, 10 and 10 s). */
const timing = { ttl: 8, loop_wait: 1, retry_timeout: 3 };

/** PostgreSQL refuses to run as root. */
const owner =
  process.getuid?.() === 0
    ? {
        uid: Number(execFileSync('id', ['-u', 'postgres'], { encoding: 'utf8' })),
        gid: Number(execFileSync('id', ['-g', 'postgres'], { encoding: 'utf8' })),
      }
    : {};

interface NodeOptions {
  readonly name: string;
  readonly directory: string;
  readonly etcdPort: number;
  readonly isSynchronous: boolean;
}

/** One host of a cluster: Patroni, its PostgreSQL server, and their network to etcd. */
export class PatroniNode {
  readonly name: string;
  readonly port: number;
  readonly etcd: Network;
  readonly #directory: string;
  readonly #restPort: number;
  #patroni: ChildProcess | undefined;

  static async create({ name, directory, etcdPort, isSynchronous }: NodeOptions): Promise<PatroniNode> {
    const node = new PatroniNode(
      name,
      join(directory, name),
      await Network.to(etcdPort),
      await findFreePort(),
      await findFreePort(),
    );
    mkdirSync(node.#directory);
    // JSON is YAML.
    writeFileSync(node.#settings, JSON.stringify(node.#configuration(isSynchronous)));
    if (owner.uid !== undefined) execFileSync('chown', ['-R', `${owner.uid}:${owner.gid}`, node.#directory]);
    node.start();
    return node;
  }

  private constructor(name: string, directory: string, etcd: Network, port: number, restPort: number) {
    this.name = name;
    this.#directory = directory;
    this.etcd = etcd;
    this.port = port;
    this.#restPort = restPort;
  }

  get url(): string {
    return `postgresql://postgres:petstore@127.0.0.1:${this.port}/postgres?connect_timeout=2`;
  }

  start(): void {
    const log = openSync(this.#log, 'a');
    this.#patroni = spawnChild('patroni', [this.#settings], { ...owner, stdio: ['ignore', log, log] });
    closeSync(log);
  }

  /** Whether Patroni says that this node is the primary. */
  async isLeader(): Promise<boolean> {
    return (await this.#ask('/leader').catch(() => undefined))?.status === 200;
  }

  /**
   * Whether Patroni has written down that this node has everything that was acknowledged: it may become the primary.
   */
  async isSynchronous(): Promise<boolean> {
    return (await this.#ask('/synchronous').catch(() => undefined))?.status === 200;
  }

  /** How many servers follow this one. */
  async countFollowers(): Promise<number> {
    const [row] = await runSql(
      this.url,
      `select count(*)::int as count from pg_stat_replication
        where state = 'streaming' and application_name <> 'pg_basebackup'`,
    );
    return Number(row?.['count']);
  }

  /** A planned change of roles. */
  async switchOver(): Promise<void> {
    const headers = { 'content-type': 'application/json' };
    const init = { method: 'POST', headers, body: JSON.stringify({ leader: this.name }) };
    const response = await this.#ask('/switchover', init, 60_000);
    if (!response.ok) throw new Error(`Patroni refuses the switchover: ${await response.text()}`);
  }

  /** As a host does that loses its power: Patroni and PostgreSQL end at once. */
  async kill(): Promise<void> {
    const patroni = this.#patroni;
    const exited = patroni?.exitCode === null && patroni.signalCode === null ? once(patroni, 'exit') : undefined;
    for (const pid of this.#processes()) signalTo(pid, 'SIGKILL');
    await exited;
  }

  /** As a host does that hangs: connections stay open, new ones are accepted by the kernel, and get no response. */
  pause(): void {
    for (const pid of this.#processes()) signalTo(pid, 'SIGSTOP');
  }

  resume(): void {
    for (const pid of this.#processes()) signalTo(pid, 'SIGCONT');
  }

  /** What Patroni and PostgreSQL have logged last. */
  lastLines(count: number): string {
    const lines = readFileSync(this.#log, 'utf8').trimEnd().split('\n');
    return lines.slice(-count).join('\n');
  }

  async remove(): Promise<void> {
    await this.kill();
    this.etcd.close();
    rmSync(this.#directory, { recursive: true, force: true });
  }

  get #log(): string {
    return join(this.#directory, 'patroni.log');
  }

  get #settings(): string {
    return join(this.#directory, 'patroni.json');
  }

  get #dataDirectory(): string {
    return join(this.#directory, 'data');
  }

  /** Patroni first, so that it starts nothing anew. */
  #processes(): number[] {
    const patroni = this.#patroni?.pid;
    const postmaster = this.#postmaster();
    return [patroni, postmaster].flatMap((pid) => (pid === undefined ? [] : familyOf(pid)));
  }

  /** The file outlives a server that was killed, and another program may have its number then. */
  #postmaster(): number | undefined {
    try {
      const pid = Number.parseInt(readFileSync(join(this.#dataDirectory, 'postmaster.pid'), 'utf8'));
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(this.#dataDirectory) ? pid : undefined;
    } catch {
      return undefined;
    }
  }

  #ask(path: string, init: RequestInit = {}, maxMillis = 1_000): Promise<Response> {
    return fetch(`http://127.0.0.1:${this.#restPort}${path}`, { ...init, signal: AbortSignal.timeout(maxMillis) });
  }

  #configuration(isSynchronous: boolean): object {
    const address = `127.0.0.1:${this.port}`;
    const rest = `127.0.0.1:${this.#restPort}`;
    return {
      scope: 'petstore',
      name: this.name,
      restapi: { listen: rest, connect_address: rest },
      etcd3: { hosts: [`127.0.0.1:${this.etcd.port}`], use_proxies: true },
      bootstrap: {
        dcs: {
          ...timing,
          maximum_lag_on_failover: 1_048_576,
          synchronous_mode: isSynchronous,
          synchronous_mode_strict: isSynchronous,
          postgresql: {
            use_pg_rewind: true,
            parameters: { max_connections: 100, shared_buffers: '32MB', wal_keep_size: '256MB' },
          },
        },
        initdb: [{ encoding: 'UTF8' }, { locale: 'C.UTF-8' }],
      },
      postgresql: {
        listen: address,
        connect_address: address,
        data_dir: this.#dataDirectory,
        bin_dir: dirname(programPath('postgres')),
        pgpass: join(this.#directory, 'pgpass'),
        parameters: { unix_socket_directories: this.#directory },
        pg_hba: [
          'local all all trust',
          'host all all 127.0.0.1/32 scram-sha-256',
          'host replication all 127.0.0.1/32 scram-sha-256',
        ],
        authentication: {
          superuser: { username: 'postgres', password: 'petstore' },
          replication: { username: 'replicator', password: 'petstore' },
        },
        remove_data_directory_on_rewind_failure: true,
        remove_data_directory_on_diverged_timelines: true,
      },
    };
  }
}

/** The process and its children. */
function familyOf(pid: number): number[] {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
    return [String(pid), ...children.split(' ')].filter(Boolean).map(Number);
  } catch {
    return [];
  }
}
