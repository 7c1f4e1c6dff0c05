import { execFileSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { spawnChild } from '../support/child-process.ts';
import { findFreePort } from '../support/free-port.ts';

/** PgBouncer before a server, as an operator would set it up. */
export class PgBouncer {
  readonly #directory = mkdtempSync(join(tmpdir(), 'petstore-pgbouncer-'));
  #child: ChildProcess | undefined;
  url = '';

  static async start(serverUrl: string, settings: Readonly<Record<string, string>>): Promise<PgBouncer> {
    const pooler = new PgBouncer();
    const { port: serverPort, password } = new URL(serverUrl);
    const port = await findFreePort();
    const lines = Object.entries({
      listen_addr: '127.0.0.1',
      listen_port: String(port),
      unix_socket_dir: '',
      auth_type: 'plain',
      auth_file: join(pooler.#directory, 'users'),
      ...settings,
    }).map(([name, value]) => `${name} = ${value}`);
    writeFileSync(join(pooler.#directory, 'users'), `"postgres" "${password}"\n`);
    writeFileSync(
      join(pooler.#directory, 'pgbouncer.ini'),
      `[databases]\nstore = host=127.0.0.1 port=${serverPort} dbname=postgres\n[pgbouncer]\n${lines.join('\n')}\n`,
    );
    const isRoot = process.getuid?.() === 0;
    if (isRoot) execFileSync('chown', ['-R', 'postgres', pooler.#directory]);
    const command = ['/usr/sbin/pgbouncer', '-q', join(pooler.#directory, 'pgbouncer.ini')];
    const [file, ...options] = isRoot
      ? ['setpriv', '--reuid=postgres', '--regid=postgres', '--clear-groups', ...command]
      : command;
    pooler.#child = spawnChild(file!, options, { stdio: 'ignore' });
    pooler.url = `postgresql://postgres:${password}@127.0.0.1:${port}/store`;
    while (!(await isListening(port)));
    return pooler;
  }

  async stop(): Promise<void> {
    this.#child?.kill('SIGKILL');
    if (this.#child !== undefined) await once(this.#child, 'close');
    rmSync(this.#directory, { recursive: true, force: true });
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
