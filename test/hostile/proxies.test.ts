import { once } from 'node:events';
import { connect as connectHttp2, constants, type ClientHttp2Stream } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { createCertificate, proxies } from '../operations/proxies.ts';
import { receive } from '../platform/http/raw-requests.ts';
import { RedisServer } from '../redis/redis-server.ts';
import { findFreePort } from '../support/free-port.ts';
import { startCluster } from '../support/started-cluster.ts';
import { RunningCommand } from '../support/running-command.ts';
import { until } from '../support/until.ts';
import { connectionAttacks } from './connection-attacks.ts';
import { pause } from './raw-requests.ts';
import { endure, expectHarmless, printTable } from './report.ts';
import { Target, type Door } from './target.ts';

const certificate = createCertificate();
const [cluster, redis] = await Promise.all([startCluster(), RedisServer.start()]);
const target = await Target.start({ DATABASE_URL: cluster.url, REDIS_URL: redis.url, TRUST_PROXY: '127.0.0.1' });

afterAll(printTable);

/** What a proxy lets through, or has to stop by itself. */
const attacks = [
  'the largest script on many connections, unread',
  'many idle connections, and half as many that send a header a letter at a time',
];

/** Beyond the 200 that the proxies let one address have; TLS costs the attacker, too. */
const connections = 220;

/** Attackers have one address, others another. */
const attackersAddress = '127.0.3.1';
const otherAttackersAddress = '127.0.3.3';
const othersAddress = '127.0.3.2';

describe.each(proxies)('behind $name by the configuration of the guide', (proxy) => {
  let running: RunningCommand;
  let port: number;
  let door: Door;

  beforeAll(async () => {
    port = await findFreePort();
    const { host } = new URL(target.service.address);
    running = new RunningCommand(proxy.command(port, [host, host]), {});
    door = {
      attacker: target.attacker,
      send: async (text) => {
        const socket = await open(attackersAddress);
        if (!socket.destroyed) socket.write(text);
        return socket;
      },
    };
    await until(async () => (await probe()) === 'HTTP/1.1 200 OK');
  });

  afterAll(() => running.stop());

  /** A connection with TLS; it is destroyed where the proxy refuses it. */
  async function open(from: string): Promise<Socket> {
    const raw = connect({ host: '127.0.0.1', port, localAddress: from });
    const socket = connectTls({ socket: raw, ca: certificate, ALPNProtocols: ['http/1.1'] });
    raw.on('error', () => socket.destroy());
    socket.on('error', () => undefined).on('close', () => raw.destroy());
    await Promise.race([once(socket, 'secureConnect'), once(socket, 'close')]).catch(() => undefined);
    // What TLS has none of.
    const resetAndDestroy = (): Socket => {
      raw.resetAndDestroy();
      return socket.destroy();
    };
    return Object.assign(socket, { resetAndDestroy });
  }

  /** The first line of the response to a probe; empty where the connection is refused. */
  async function probe(): Promise<string> {
    const socket = await open(othersAddress);
    if (socket.destroyed) return '';
    socket.write('GET /healthz HTTP/1.1\r\nHost: shop.example\r\nConnection: close\r\n\r\n');
    const [line = ''] = (await receive(socket)).split('\r\n');
    return line;
  }

  it.each(attacks)(
    'survives %s, and serves others',
    async (name) => {
      let served = '';
      const [responses, damages] = await endure(target, async () => {
        const attacking = connectionAttacks[name]!(door, connections);
        await pause(0.5);
        served = await probe();
        return attacking;
      });
      expectHarmless(`${proxy.name}: ${name}`, responses, damages);
      expect(served).toBe('HTTP/1.1 200 OK');
    },
    300_000,
  );

  it('survives streams of HTTP/2 that are reset at once, and serves others', async () => {
    const [responses, damages] = await endure(target, async () => {
      let opened = 0;
      for (let session = 0; session < 8; session += 1) {
        const client = connectHttp2(`https://127.0.0.1:${port}`, {
          createConnection: () =>
            connectTls({
              socket: connect({ host: '127.0.0.1', port, localAddress: otherAttackersAddress }),
              ca: certificate,
              ALPNProtocols: ['h2'],
            }),
        });
        client.on('error', () => undefined);
        await Promise.race([once(client, 'connect'), once(client, 'close')]).catch(() => undefined);
        for (let stream = 0; stream < 300 && !client.destroyed && !client.closed; stream += 1) {
          let request: ClientHttp2Stream;
          try {
            request = client.request({ ':path': '/pets?limit=100', 'x-api-key': target.attacker });
          } catch {
            break;
          }
          request.on('error', () => undefined).close(constants.NGHTTP2_CANCEL);
          opened += 1;
        }
        await pause(0.02);
        client.destroy();
      }
      return opened > 0 ? 'reset' : 'none';
    });
    expectHarmless(`${proxy.name}: streams reset`, responses, damages);
    await until(async () => (await probe()) === 'HTTP/1.1 200 OK');
  }, 300_000);
});
