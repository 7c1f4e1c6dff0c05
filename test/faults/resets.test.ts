import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, it } from '@jest/globals';

import { key, Service } from './service.ts';

let directory: string;
let service: Service;
let port: number;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'petstore-resets-'));
  service = await Service.start({ DATA_DIR: join(directory, 'data'), DEMO: 'off' });
  port = Number(new URL(service.address).port);
});

afterAll(async () => {
  await service.stop();
  rmSync(directory, { recursive: true, force: true });
});

async function sendAndReset(text: string): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  await new Promise((resolve) => socket.write(text, resolve));
  socket.resetAndDestroy();
}

it.each(['CONNECT x:1', 'GET /%zz', 'GET /pets', 'POST /graphql', 'GET /graphiql', 'OPTIONS /pets', 'garbage'])(
  'outlives a connection that is reset after %s',
  async (start) => {
    const before = service.output.length;
    for (const sent of ['', `X-API-Key: ${key}\r\n`]) {
      const request = `${start} HTTP/1.1\r\nHost: x\r\n${sent}Content-Type: application/json\r\n\r\n`;
      await Promise.all(Array.from({ length: 16 }, async () => sendAndReset(request)));
    }
    expect((await fetch(`${service.address}/healthz`)).status).toBe(200);
    // Levels of pino: 40 is a warning.
    expect(service.output.slice(before)).not.toMatch(/"level":(?:40|50|60)/);
  },
);
