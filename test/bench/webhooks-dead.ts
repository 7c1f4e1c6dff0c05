import { setTimeout as sleep } from 'node:timers/promises';

import type { LoadResult } from './load-process.ts';
import { cores, type MeasuredProcess } from './measured-process.ts';
import { median } from './report.ts';
import {
  addresses,
  change,
  closedPort,
  createEndpoint,
  pinService,
  port,
  quantile,
  requests,
  service,
  sql,
  switchEndpoints,
  takeLatencies,
  tenths,
  times,
  waitUntilNone,
  withoutWebhooks,
} from './webhooks-setup.ts';

const situations: readonly {
  readonly name: string;
  readonly target: MeasuredProcess;
  readonly hasEndpoints: boolean;
}[] = [
  { name: 'without endpoints', target: service, hasEndpoints: false },
  { name: 'beside 500', target: service, hasEndpoints: true },
  { name: 'delivered by another process', target: withoutWebhooks, hasEndpoints: true },
];

/** Requests beside 500 endpoints of which 400 are dead. */
export async function measureDead(seconds: number, rounds: number): Promise<void> {
  await createEndpoints();
  const results = new Map<string, LoadResult[]>();
  for (let round = 0; round < rounds; round += 1) {
    for (const { name, target, hasEndpoints } of situations) {
      pinService(target === service ? cores?.server : cores?.load);
      await switchEndpoints(String(hasEndpoints));
      // Connections to those that respond are open by then.
      const changing = change(2, seconds + 5);
      await sleep(4_000);
      await takeLatencies();
      const before = times();
      const result = await requests(target.address, seconds);
      const after = times();
      const deliveries = await takeLatencies();
      await changing;
      results.set(name, [...(results.get(name) ?? []), result]);
      console.log(name, {
        p50: tenths(result.p50),
        p99: tenths(result.p99),
        deliveries: deliveries.length,
        deliveryP99: quantile(deliveries, 0.99),
        serviceCore: (after.service - before.service) / (seconds * 1_000_000),
        deliveryCore: (after.delivery - before.delivery) / (seconds * 1_000_000),
      });
    }
  }
  for (const [name, list] of results) console.log(name, { medianP99: tenths(median(list.map(({ p99 }) => p99))) });
}

async function createEndpoints(): Promise<void> {
  await sql.query('delete from webhook_endpoints');
  for (let index = 0; index < 500; index += 1) {
    const address = addresses[index % addresses.length];
    if (index % 5 === 0) await createEndpoint(`https://${address}:${port}/good`);
    else if (index % 5 < 3) await createEndpoint(`https://${address}:${closedPort}/`);
    else await createEndpoint(`https://${address}:${port}/hung`);
  }
  await change(1, 1);
  await waitUntilNone(`is_healthy and url not like '%/good'`);
}
