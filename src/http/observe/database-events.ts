import type { FastifyBaseLogger } from 'fastify';

import type { Metrics } from './metrics.ts';

export function databaseEvents(log: FastifyBaseLogger, metrics: Metrics) {
  return {
    onServerChange: (change: object): void => {
      metrics.failovers.inc();
      log.warn(change, 'the database is written to on another server');
    },
    onRead: (read: { readonly server: string; readonly reason: string }): void => metrics.countRead(read),
    onReplica: ({ server, problem }: { readonly server: string; readonly problem: string | undefined }): void => {
      if (problem === undefined) log.info({ server }, 'reads go to a replica');
      else log.warn({ server, problem }, 'a replica is left out: the primary serves its reads');
    },
    onDifference: (offsetSeconds: number): void =>
      log.warn({ offsetSeconds }, "this machine's clock differs from that of the database"),
    onAgreement: (): void => log.info("this machine's clock is that of the database again"),
  };
}
