import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { spawnChild } from '../../support/child-process.ts';
import { findFreePort } from '../../support/free-port.ts';
import { until } from '../../support/until.ts';
import { PatroniNode } from './patroni-node.ts';

/** What a node that has lost its data, on a busy machine, needs at most. */
const patience = { maxMillis: 120_000, everyMillis: 200 };

/** Of each node, where they don't come back. */
const loggedLines = 40;

/** Three PostgreSQL servers under Patroni, which keeps its state in etcd. */
export class PatroniCluster {
  readonly nodes: readonly PatroniNode[];
  readonly #isSynchronous: boolean;
  readonly #end: () => Promise<void>;

  static async start({ isSynchronous }: { readonly isSynchronous: boolean }): Promise<PatroniCluster> {
    // The directory of a socket must have a short name.
    const directory = mkdtempSync(join(tmpdir(), 'patroni-'));
    chmodSync(directory, 0o755);
    const [port, peerPort] = [await findFreePort(), await findFreePort()];
    const [url, peerUrl] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${peerPort}`];
    const options = {
      'data-dir': join(directory, 'etcd'),
      'listen-client-urls': url,
      'advertise-client-urls': url,
      'listen-peer-urls': peerUrl,
      'initial-advertise-peer-urls': peerUrl,
      'initial-cluster': `default=${peerUrl}`,
    };
    const etcd = spawnChild(
      'etcd',
      Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]),
      {
        stdio: 'ignore',
      },
    );
    await until(
      () =>
        fetch(`${url}/health`).then(
          ({ ok }) => ok,
          () => false,
        ),
      patience,
    );
    const nodes: PatroniNode[] = [];
    const end = async (): Promise<void> => {
      for (const node of nodes) await node.remove();
      const exited = once(etcd, 'exit');
      etcd.kill('SIGKILL');
      await exited;
      rmSync(directory, { recursive: true, force: true });
    };
    const cluster = new PatroniCluster(nodes, isSynchronous, end);
    try {
      for (const name of ['a', 'b', 'c'])
        nodes.push(await PatroniNode.create({ name, directory, etcdPort: port, isSynchronous }));
      await cluster.settled();
    } catch (error) {
      await end();
      throw error;
    }
    return cluster;
  }

  private constructor(nodes: readonly PatroniNode[], isSynchronous: boolean, end: () => Promise<void>) {
    this.nodes = nodes;
    this.#isSynchronous = isSynchronous;
    this.#end = end;
  }

  /** All three. */
  get hosts(): string {
    return this.nodes.map(({ port }) => `127.0.0.1:${port}`).join(',');
  }

  get url(): string {
    return `postgresql://postgres:petstore@${this.hosts}/postgres`;
  }

  /** Resolves with the primary when both others follow it, one of them synchronously where that is asked for. */
  async settled(): Promise<PatroniNode> {
    let leader: PatroniNode | undefined;
    await until(async () => {
      leader = await this.leader();
      if ((await leader?.countFollowers().catch(() => 0)) !== 2) return false;
      if (!this.#isSynchronous) return true;
      const standbys = this.nodes.filter((node) => node !== leader);
      return (await Promise.all(standbys.map((node) => node.isSynchronous()))).includes(true);
    }, patience).catch((error: unknown) => {
      const logs = this.nodes.map((node) => `${node.name}:\n${node.lastLines(loggedLines)}`);
      throw new Error(`The servers don't follow one primary.\n${logs.join('\n\n')}`, { cause: error });
    });
    return leader!;
  }

  async leader(): Promise<PatroniNode | undefined> {
    for (const node of this.nodes) if (await node.isLeader()) return node;
    return undefined;
  }

  /** Resolves with another primary than this one. */
  async successorOf(old: PatroniNode): Promise<PatroniNode> {
    let next: PatroniNode | undefined;
    const others = this.nodes.filter((node) => node !== old);
    await until(async () => {
      for (const node of others) if (await node.isLeader()) next = node;
      return next !== undefined;
    }, patience);
    return next!;
  }

  async remove(): Promise<void> {
    await this.#end();
  }
}
