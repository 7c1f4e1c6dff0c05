import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { expect, it } from '@jest/globals';

import { startCluster } from '../support/started-cluster.ts';
import { Service } from '../support/service.ts';
import { until } from '../support/until.ts';

const disk = process.env['SMALL_DISK'] ?? '';
const ballast = join(disk, 'ballast');

/** With ever smaller pieces, because others write meanwhile. */
function fillDisk(): void {
  for (let size = 1 << 20; size >= 1024; size /= 4) {
    try {
      for (;;) appendFileSync(ballast, Buffer.alloc(size));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    }
  }
}

const untilReady = (service: Service, status: number): Promise<void> =>
  until(async () => (await service.get('/readyz')).status === status, { maxMillis: 30_000 });

const create = `mutation { createCategory(input: { name: "Dogs", description: "${'x'.repeat(1900)}" }) { category { id } } }`;

it.each([
  ['a server', async () => ({ DATABASE_URL: (await startCluster()).url })],
  ['the embedded database', async () => ({ DATA_DIR: mkdtempSync(join(disk, 'data-')), DEMO: 'off' })],
])('a full disk of %s turns writes and /readyz to 503 until there is room again', async (_name, prepare) => {
  const service = await Service.start(await prepare());
  try {
    expect((await service.graphql(create)).status).toBe(200);
    await untilReady(service, 200);
    fillDisk();
    await untilReady(service, 503);
    for (let n = 0; n < 40; n += 1) expect([200, 503]).toContain((await service.graphql(create)).status);
    rmSync(ballast);
    await untilReady(service, 200);
    expect((await service.graphql(create)).status).toBe(200);
  } finally {
    rmSync(ballast, { force: true });
    await service.kill();
  }
});
