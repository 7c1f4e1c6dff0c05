import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { findFreePort } from './free-port.ts';
import { runSql } from './postgres-client.ts';

/**
 * A PostgreSQL server of the suite's own, durable as it is by default, that can be stopped, paused and started again.
 */
export class PostgresCluster {
  readonly #directory = mkdtempSync(join(process.env['SMALL_DISK'] ?? tmpdir(), 'petstore-cluster-'));
  #port = 0;

  /**
   * `prepare` may change the data directory before the server starts for the first time; `initialized` is one to copy,
   * which is made where it isn't there.
   */
  static async create(prepare?: (dataDirectory: string) => void, initialized?: string): Promise<PostgresCluster> {
    const cluster = new PostgresCluster();
    if (initialized !== undefined && existsSync(initialized)) copy(initialized, cluster.dataDirectory);
    else {
      cluster.#initialize();
      if (initialized !== undefined) copy(cluster.dataDirectory, initialized);
    }
    prepare?.(cluster.dataDirectory);
    if (process.getuid?.() === 0) execFileSync('chown', ['-R', 'postgres', cluster.#directory]);
    cluster.#port = await findFreePort();
    cluster.start();
    return cluster;
  }

  #initialize(): void {
    const passwordFile = join(this.#directory, 'password');
    writeFileSync(passwordFile, 'petstore\n');
    if (process.getuid?.() === 0) execFileSync('chown', ['-R', 'postgres', this.#directory]);
    this.#run(
      'initdb',
      '--username=postgres',
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      '--no-sync',
    );
    const settings = `listen_addresses = '127.0.0.1'\nunix_socket_directories = ''\n`;
    appendFileSync(join(this.dataDirectory, 'postgresql.conf'), settings);
  }

  /** A hot standby of this server, which follows it. */
  async addStandby(): Promise<PostgresCluster> {
    const standby = new PostgresCluster();
    standby.#port = await findFreePort();
    standby.follow(this);
    return standby;
  }

  /** Becomes a hot standby of the other server, from a new copy of it, at its own port. It must have stopped. */
  follow(primary: PostgresCluster): void {
    rmSync(this.dataDirectory, { recursive: true, force: true });
    if (process.getuid?.() === 0) execFileSync('chown', ['-R', 'postgres', this.#directory]);
    this.#run('pg_basebackup', `--dbname=${primary.url}`, '--checkpoint=fast', '--no-sync', '--write-recovery-conf');
    this.start();
  }

  /** Ends being a standby; resolves when it takes writes. */
  promote(): void {
    this.#run('pg_ctl', '--wait', '--silent', 'promote');
  }

  get dataDirectory(): string {
    return join(this.#directory, 'data');
  }

  get port(): number {
    return this.#port;
  }

  get url(): string {
    return `postgresql://postgres:petstore@127.0.0.1:${this.#port}/postgres`;
  }

  /** Runs SQL past the service. */
  sql(text: string, values?: readonly unknown[]) {
    return runSql(this.url, text, values);
  }

  /** What the server has logged so far. */
  get log(): string {
    return readFileSync(join(this.#directory, 'log'), 'utf8');
  }

  start(): void {
    const options = ['--wait', '--silent', `--log=${join(this.#directory, 'log')}`, `--options=-c port=${this.#port}`];
    this.#run('pg_ctl', ...options, 'start');
  }

  /** As a crash does: connections break, and new ones are refused. */
  stop(): void {
    this.#run('pg_ctl', '--wait', '--silent', '--mode=immediate', 'stop');
  }

  /** As a host does that hangs: connections stay open, new ones are accepted by the kernel, and get no response. */
  pause(): void {
    for (const pid of this.#processes()) signalTo(pid, 'SIGSTOP');
  }

  resume(): void {
    for (const pid of this.#processes()) signalTo(pid, 'SIGCONT');
  }

  remove(): void {
    this.stop();
    rmSync(this.#directory, { recursive: true, force: true });
  }

  /** Of the process that starts all others. */
  get pid(): number {
    return Number.parseInt(readFileSync(join(this.dataDirectory, 'postmaster.pid'), 'utf8'));
  }

  #processes(): number[] {
    const postmaster = this.pid;
    const children = readFileSync(`/proc/${postmaster}/task/${postmaster}/children`, 'utf8').trim();
    return [postmaster, ...children.split(' ').filter(Boolean).map(Number)];
  }

  /** PostgreSQL refuses to run as root. */
  #run(program: string, ...options: string[]): void {
    const command = [programPath(program), `--pgdata=${this.dataDirectory}`, ...options];
    const asOwner = process.getuid?.() === 0 ? ['runuser', '-u', 'postgres', '--'] : [];
    const [file, ...rest] = [...asOwner, ...command];
    execFileSync(file!, rest, { cwd: this.#directory, stdio: 'ignore' });
  }
}

/** With owners and modes, which PostgreSQL looks at. */
function copy(from: string, to: string): void {
  execFileSync('cp', ['-a', from, to]);
}

/** A backend may end between the listing of the processes and its signal. */
export function signalTo(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Debian keeps the server's programs outside PATH, one folder per version; POSTGRES_BIN names another folder. */
export function programPath(program: string): string {
  const folder = process.env['POSTGRES_BIN'];
  if (folder) return join(folder, program);
  const found = globSync(`/usr/lib/postgresql/*/bin/${program}`).toSorted((a, b) =>
    a.localeCompare(b, 'en', { numeric: true }),
  );
  return found.at(-1) ?? program;
}
