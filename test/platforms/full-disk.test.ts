import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { expect, it } from '@jest/globals';

import { Service } from '../faults/service.ts';
import { PostgresCluster } from '../support/postgres-cluster.ts';

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

async function untilReady(service: Service, status: number): Promise<number> {
  const started = performance.now();
  while ((await service.get('/readyz')).status !== status) {
    if (performance.now() - started > 30_000)
      throw new Error(`/readyz is not ${status} after 30 s.\n${service.output.slice(-2000)}`);
  }
  return performance.now() - started;
}

const create = `mutation { createCategory(input: { name: "Dogs", description: "${'x'.repeat(1900)}" }) { category { id } } }`;

/** The responses to writes while the disk is full, after `/readyz` has reported it, and afterwards. */
async function writeToFullDisk(service: Service): Promise<number[]> {
  expect((await service.graphql(create)).status).toBe(200);
  await untilReady(service, 200);
  fillDisk();
  await untilReady(service, 503);
  const statuses = new Set<number>();
  for (let n = 0; n < 40; n += 1) statuses.add((await service.graphql(create)).status);
  rmSync(ballast);
  await untilReady(service, 200);
  return [...statuses, (await service.graphql(create)).status];
}

it('a full disk of a server turns /readyz to 503 until there is room again', async () => {
  const cluster = await PostgresCluster.create();
  const service = await Service.start({ DATABASE_URL: cluster.url });
  try {
    const statuses = await writeToFullDisk(service);
    expect(statuses.filter((status) => ![200, 503].includes(status))).toEqual([]);
    expect(statuses.at(-1)).toBe(200);
  } finally {
    rmSync(ballast, { force: true });
    await service.stop();
    cluster.remove();
  }
});

it('a full disk of the embedded database turns /readyz to 503 until there is room again', async () => {
  const directory = mkdtempSync(join(disk, 'data-'));
  const service = await Service.start({ DATA_DIR: directory, DEMO: 'off' });
  try {
    const statuses = await writeToFullDisk(service);
    expect(statuses.filter((status) => ![200, 503].includes(status))).toEqual([]);
    expect(statuses.at(-1)).toBe(200);
  } finally {
    rmSync(ballast, { force: true });
    await service.stop();
  }
});
