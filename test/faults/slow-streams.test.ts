import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

import { expect, it } from '@jest/globals';

import { atEnd } from '../support/at-end.ts';
import { startCluster } from '../support/started-cluster.ts';
import { Service } from '../support/service.ts';
import { until } from '../support/until.ts';

/** 100 is the long form. */
const readers = Number(process.env['SLOW_STREAMS'] ?? 10);
const slowSeconds = readers >= 100 ? 60 : 3;
const streamsOfKey = 20;
/** More for each reader than what the kernel keeps for a connection. */
const batches = 20;
const eventsOfBatch = 100;
const events = batches * eventsOfBatch;
const bytesOfEvent = 6_000;
const maxMillis = 120_000;

const cluster = await startCluster();

const service = await Service.start({ DATABASE_URL: cluster.url, LOG_LEVEL: 'silent' });

const streams: SlowReader[] = [];
atEnd(() => streams.forEach((stream) => stream.close()));

function megabytes(): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${service.pid}/status`, 'utf8'))![1]) / 1024;
}

/** A client that takes 16 bytes from the kernel four times a second, until it may read on as fast as it can. */
class SlowReader {
  /** The names of the events so far, as numbers. */
  readonly names: number[] = [];
  hasBegun = false;
  hasEnded = false;
  /** What isn't an event. */
  words = '';
  #isFast: boolean;
  #rest = '';
  readonly #socket: Socket;
  readonly #timer: NodeJS.Timeout;

  constructor(key: string, isFast = false) {
    this.#isFast = isFast;
    const body = '{"query":"subscription { events { id object { ... on Category { name description } } } }"}';
    const some = Buffer.alloc(16);
    const many = Buffer.alloc(65_536);
    const onread = {
      // What takes the response's headers is fast, too.
      buffer: () => (this.#isFast || !this.hasBegun ? many : some),
      callback: (count: number, buffer: Uint8Array) => {
        this.#take(Buffer.from(buffer.subarray(0, count)).toString('latin1'));
        return this.#isFast || !this.hasBegun;
      },
    };
    this.#socket = connect({ host: '127.0.0.1', port: service.port, onread });
    this.#socket.on('error', () => (this.hasEnded = true)).on('close', () => (this.hasEnded = true));
    this.#socket.write(
      `POST /graphql HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nAccept: text/event-stream\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    this.#timer = setInterval(() => this.#socket.resume(), 250);
  }

  readFast(): void {
    this.#isFast = true;
  }

  close(): void {
    clearInterval(this.#timer);
    this.#socket.destroy();
  }

  #take(text: string): void {
    this.#rest += text;
    this.hasBegun ||= this.#rest.includes('\r\n\r\n');
    const blocks = this.#rest.split('\n\n');
    this.#rest = blocks.pop()!;
    for (const block of blocks) {
      const name = /"name":"(\d+)"/.exec(block)?.[1];
      if (name !== undefined) this.names.push(Number(name));
      if (block.includes('"errors"') || block.includes('event: complete')) this.words += block;
    }
  }
}

it(
  `${readers} streams that are read by a few bytes a second take little memory, delay no other and miss nothing`,
  async () => {
    for (let index = 0; index < readers; index += streamsOfKey) {
      const key = await service.createKey();
      while (streams.length < Math.min(readers, index + streamsOfKey)) streams.push(new SlowReader(key));
    }
    const slow = streams.slice();
    const neighbour = new SlowReader(await service.createKey(), true);
    streams.push(neighbour);
    await until(() => streams.every(({ hasBegun }) => hasBegun));
    const before = megabytes();
    let most = before;
    const delays: number[] = [];
    for (let batch = 0; batch < batches; batch += 1) {
      const committedAt = performance.now();
      await cluster.sql(
        `insert into categories (name, description) select n::text, repeat('水', $2::int / 3)
          from generate_series($1::int, $1::int + ${eventsOfBatch - 1}) as n`,
        [batch * eventsOfBatch, bytesOfEvent],
      );
      await until(() => neighbour.names.length === (batch + 1) * eventsOfBatch, { maxMillis });
      delays.push(Math.round(performance.now() - committedAt));
      most = Math.max(most, megabytes());
    }
    const requests: number[] = [];
    for (const endsAt = performance.now() + slowSeconds * 1_000; performance.now() < endsAt; await wait(100)) {
      const { status, millis } = await service.get('/healthz');
      expect(status).toBe(200);
      requests.push(Math.round(millis));
      most = Math.max(most, megabytes());
    }
    // They are slow indeed: none has got a tenth of them.
    expect(Math.max(...slow.map(({ names }) => names.length))).toBeLessThan(events / 10);
    for (const stream of slow) stream.readFast();
    await until(() => slow.every(({ names, hasEnded }) => names.length >= events || hasEnded), {
      maxMillis,
      everyMillis: 50,
    });
    const all = Array.from({ length: events }, (_, n) => n);
    for (const { names, words, hasEnded } of streams) {
      expect([words, hasEnded]).toEqual(['', false]);
      expect(names).toEqual(all);
    }
    console.info({
      streams: readers,
      events,
      megabytes: { before: Math.round(before), more: Math.round(most - before) },
      neighbour: { worstDelayMillis: Math.max(...delays), worstRequestMillis: Math.max(...requests) },
    });
    // All that they have not taken is twelve megabytes for each.
    expect(most - before).toBeLessThan(150);
  },
  4 * maxMillis,
);
