import { EventEmitter } from 'node:events';

import { expect, it } from '@jest/globals';

import type { PgConnection } from '../../../src/platform/postgres/connection.ts';
import { PipelinedConnection } from '../../../src/platform/postgres/pipeline/pipelined-connection.ts';

it('a connection whose server was retired while it was opened gets no reads, and is closed', async () => {
  let isClosed = false;
  const close = async (): Promise<void> => void (isClosed = true);
  const opened = Object.assign(new EventEmitter(), { isCurrent: false, close }) as unknown as PgConnection;
  const connection = new PipelinedConnection(() => Promise.resolve(opened), {
    onEnd: () => undefined,
    onRetry: () => undefined,
  });
  expect(connection.accepts('client')).toBe(true);
  await new Promise(setImmediate);
  expect(connection.accepts('client')).toBe(false);
  expect(isClosed).toBe(true);
});
