import { execFileSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';

import { spawnChild } from '../../support/child-process.ts';
import { findFreePort } from '../../support/free-port.ts';
import { runSql } from '../../support/postgres-client.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { until } from '../../support/until.ts';

/**
 * PgBouncer before a server, as an operator would set it up. The variable PGBOUNCER names another program than
 * Debian's.
 */
export class PgBouncer {
  readonly #directory = temporaryDirectory();
  readonly #serverPort: string;
  readonly #password: string;
  readonly #port: number;
  #child: ChildProcess | undefined;
  readonly url: string;

  private constructor(serverUrl: string, port: number) {
    ({ port: this.#serverPort, password: this.#password } = new URL(serverUrl));
    this.#port = port;
    this.url = `postgresql://postgres:${this.#password}@127.0.0.1:${port}/store`;
  }

  static async start(serverUrl: string, settings: Readonly<Record<string, string>>): Promise<PgBouncer> {
    const port = await findFreePort();
    const pooler = new PgBouncer(serverUrl, port);
    writeFileSync(join(pooler.#directory, 'users'), `"postgres" "${pooler.#password}"\n`);
    pooler.#configure(settings);
    const isRoot = process.getuid?.() === 0;
    if (isRoot) execFileSync('chown', ['-R', 'postgres', pooler.#directory]);
    const command = [process.env['PGBOUNCER'] ?? '/usr/sbin/pgbouncer', '-q', join(pooler.#directory, 'pgbouncer.ini')];
    const [file, ...options] = isRoot
      ? ['setpriv', '--reuid=postgres', '--regid=postgres', '--clear-groups', ...command]
      : command;
    pooler.#child = spawnChild(file!, options, { stdio: 'ignore' });
    await until(() => isListening(port));
    return pooler;
  }

  /** Other settings under its running clients. */
  async change(settings: Readonly<Record<string, string>>): Promise<void> {
    this.#configure(settings);
    await runSql(this.url.replace(/store$/, 'pgbouncer'), 'reload');
  }

  #configure(settings: Readonly<Record<string, string>>): void {
    const lines = Object.entries({
      listen_addr: '127.0.0.1',
      listen_port: String(this.#port),
      unix_socket_dir: '',
      auth_type: 'plain',
      auth_file: join(this.#directory, 'users'),
      admin_users: 'postgres',
      ...settings,
    }).map(([name, value]) => `${name} = ${value}`);
    const server = `host=127.0.0.1 port=${this.#serverPort} dbname=postgres`;
    writeFileSync(
      join(this.#directory, 'pgbouncer.ini'),
      `[databases]\nstore = ${server}\n[pgbouncer]\n${lines.join('\n')}\n`,
    );
  }

  async stop(): Promise<void> {
    if (this.#child?.kill('SIGKILL') === true) await once(this.#child, 'close');
  }
}

async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
