import { setTimeout as sleep } from 'node:timers/promises';

import { addresses, change, createEndpoint, port, quantile, takeLatencies, times } from './webhooks-setup.ts';

/** 500 a second to 10 endpoints. */
export async function measureDeliveries(seconds: number): Promise<void> {
  for (let index = 0; index < 10; index += 1) await createEndpoint(`https://${addresses[index]}:${port}/good`);
  await change(20, 3);
  await sleep(2_000);
  await takeLatencies();
  const before = times();
  const changes = await change(50, seconds);
  await sleep(3_000);
  const latencies = await takeLatencies();
  const after = times();
  const perDelivery = (name: keyof typeof before): number =>
    Math.round((after[name] - before[name]) / latencies.length);
  console.log({
    deliveries: latencies.length,
    expected: changes * 10,
    perSecond: Math.round(latencies.length / seconds),
    millis: [0.5, 0.99, 1].map((part) => quantile(latencies, part)),
    microsPerDelivery: {
      service: perDelivery('service'),
      delivery: perDelivery('delivery'),
      postgres: perDelivery('postgres'),
      receivers: perDelivery('receivers'),
    },
  });
}
