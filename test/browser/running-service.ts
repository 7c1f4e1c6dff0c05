import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

import { spawnChild } from '../support/child-process.ts';

/** The built program on a demo store of its own, as `npm start` runs it. */
export interface RunningService {
  /** Of the explorer, as it is printed: with a key, once there are keys. */
  readonly address: string;
  readonly origin: string;
  /** The printed one, or one that nobody asks for. */
  readonly key: string;
  stop(): Promise<void>;
}

export async function startService(): Promise<RunningService> {
  const dataDir = await mkdtemp(join(tmpdir(), 'explorer-'));
  const service = spawnChild(process.execPath, ['dist/src/main.js'], {
    env: { NODE_ENV: 'production', PORT: '0', DATA_DIR: dataDir, LOG_LEVEL: 'silent' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = once(service, 'exit');
  const address = await printedAddress([service.stdout, service.stderr]);
  const { origin, hash } = new URL(address);
  return {
    address,
    origin,
    key: new URLSearchParams(hash.slice(1)).get('key') ?? 'a-key',
    stop: async () => {
      service.kill('SIGTERM');
      await exited;
      await rm(dataDir, { recursive: true });
    },
  };
}

/** The welcome is text for people: it may be on either. */
async function printedAddress(outputs: readonly NodeJS.ReadableStream[]): Promise<string> {
  return Promise.any(
    outputs.map(async (output) => {
      for await (const line of createInterface({ input: output })) {
        const [address] = /http:\/\/\S+\/graphiql\S*/.exec(line) ?? [];
        if (address !== undefined) return address;
      }
      throw new Error('The service has ended without printing an address.');
    }),
  );
}
