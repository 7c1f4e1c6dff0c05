import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';

import { describe, expect, it } from '@jest/globals';
import pg from 'pg';

import { startEmbeddedPostgres } from '../../../src/platform/embedded/embedded-postgres.ts';
import { atEnd } from '../../support/at-end.ts';
import { runSql } from '../../support/postgres-client.ts';
import { message } from '../postgres/message.ts';
import { DataDirectories } from './data-directories.ts';

const directories = new DataDirectories();

const postgres = await startEmbeddedPostgres(await directories.created());
atEnd(() => postgres.close());
await runSql(postgres.connection, 'create table pet (id int)');

async function connected(): Promise<pg.Client> {
  const client = new pg.Client(postgres.connection);
  await client.connect();
  return client;
}

const startup = message('', '\0\x03\0\0user\0postgres\0database\0postgres\0\0');
const parseInsert = message('P', '\0INSERT INTO pet VALUES (1)\0\0\0');
const bind = message('B', '\0\0\0\0\0\0\0\0');
const execute = message('E', '\0\0\0\0\0');

async function rawClient(firstMessage = startup): Promise<Socket> {
  const { host, port } = postgres.connection;
  const socket = connect(join(host, `.s.PGSQL.${port}`));
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.write(firstMessage);
  await once(socket, 'data');
  return socket;
}

/** Sends an extended-protocol sequence message by message, waiting for each response, and returns the last response. */
async function answerInSteps(socket: Socket, value: number): Promise<string> {
  let response = '';
  for (const step of [message('P', `\0SELECT 'value ${value}'\0\0\0`), bind, execute, message('S', '')]) {
    const received = once(socket, 'data');
    socket.write(step);
    response += String((await received)[0]);
  }
  return response;
}

/** A new client is served: the backend is released, and nothing of the client that has left remains. */
async function expectNothingLeft(): Promise<void> {
  const client = await connected();
  expect((await client.query('SELECT * FROM pet')).rows).toEqual([]);
  expect((await client.query('SELECT $1::int AS one', [1])).rows).toEqual([{ one: 1 }]);
  await client.end();
}

describe('several clients of the embedded PostgreSQL', () => {
  it('get the results of their own queries, when the messages of one arrive between those of another', async () => {
    const sockets = await Promise.all(Array.from({ length: 4 }, () => rawClient()));
    const responses = sockets.map(async (socket, number) => {
      for (let round = 0; round < 50; round += 1) {
        const value = number * 1000 + round;
        expect(await answerInSteps(socket, value)).toContain(`value ${value}`);
      }
    });
    await Promise.all(responses);
    for (const socket of sockets) socket.destroy();
  });

  it("see nothing of each other's transactions", async () => {
    const clients = await Promise.all(Array.from({ length: 3 }, connected));
    await clients[0]?.query('CREATE TABLE counter (value int); INSERT INTO counter VALUES (0)');
    const increments = clients.map(async (client) => {
      for (let round = 0; round < 30; round += 1) {
        await client.query('BEGIN');
        const { rows } = await client.query<{ value: number }>('SELECT value FROM counter WHERE $1', [true]);
        await client.query('UPDATE counter SET value = $1', [(rows[0]?.value ?? 0) + 1]);
        await client.query(round % 3 === 0 ? 'ROLLBACK' : 'COMMIT');
      }
    });
    await Promise.all(increments);
    expect((await clients[0]?.query('SELECT value FROM counter'))?.rows).toEqual([{ value: 60 }]);
    await Promise.all(clients.map((client) => client.end()));
  });

  it('are served after one that disconnects in the middle of a sequence', async () => {
    const sequences = [
      [parseInsert],
      [parseInsert, bind],
      [parseInsert, bind, execute],
      [message('P', '\0nonsense\0\0\0')],
    ];
    for (const sequence of sequences) {
      const socket = await rawClient();
      socket.write(Buffer.concat(sequence));
      await once(socket, 'data');
      socket.destroy();
      await expectNothingLeft();
    }
  });

  it('are served after one that disconnects in the middle of a transaction', async () => {
    for (const text of ['INSERT INTO pet VALUES (1)', 'nonsense']) {
      const client = await connected();
      client.on('error', () => {});
      await client.query('BEGIN');
      await client.query(text).catch(() => {});
      client.connection.stream.destroy();
      await expectNothingLeft();
    }
  });

  it('are served after some that disconnect while their messages are under way', async () => {
    const other = await connected();
    for (let round = 0; round < 50; round += 1) {
      const socket = await rawClient();
      const begin = message('Q', 'BEGIN; INSERT INTO pet VALUES (1)\0');
      const underWay = other.query('SELECT $1::int AS round', [round]);
      socket.write(round % 2 === 0 ? begin : Buffer.concat([begin, parseInsert, bind]), () => socket.destroy());
      expect((await underWay).rows).toEqual([{ round }]);
    }
    await other.end();
    await expectNothingLeft();
  });

  it('are served while one that sends an unknown message is disconnected', async () => {
    const socket = await rawClient();
    const closed = once(socket, 'close');
    socket.write(message('z', ''));
    await closed;
    await expectNothingLeft();
  });

  it('are served, long results too, after one whose startup packet is malformed', async () => {
    const socket = await rawClient(message('', '\0\x03\0\0nonsense'));
    socket.destroy();
    const client = await connected();
    const { rows } = await client.query<{ text: string }>("SELECT repeat('x', 20000000) AS text");
    expect(rows[0]?.text).toHaveLength(20_000_000);
    await client.end();
  });

  it('get an error from a recursion too deep, and then the next result', async () => {
    const client = await connected();
    await client.query(
      'CREATE FUNCTION endless(i int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN endless(i + 1); END $$',
    );
    await expect(client.query('SELECT endless($1)', [1])).rejects.toMatchObject({ code: '54001' });
    await client.end();
    await expectNothingLeft();
  });

  it('may be sixteen at a time', async () => {
    const clients = await Promise.all(Array.from({ length: 16 }, connected));
    await expect(connected()).rejects.toThrow();
    await Promise.all(clients.map((client) => client.end()));
    await expectNothingLeft();
  });
});
