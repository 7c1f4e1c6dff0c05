import type { Server } from 'node:http';

import { unavailable } from '../domain/errors.ts';
import type { Metrics } from '../http/observe/metrics.ts';
import type { MetricsSource } from '../http/observe/metrics-server.ts';
import { every, inBackground } from '../platform/background.ts';
import type { SlotCounter } from '../platform/callers/index.ts';
import type { CounterHost, CounterResponse, SubjectUsage, UsageTable } from '../platform/quotas/index.ts';
import type { Deliverer } from '../webhooks/remote-webhooks.ts';
import { type ParentConnection, ParentSilent, serveHandedConnections } from '../platform/workers/index.ts';

/** The parts that a worker has together with the others, in their primary, instead of its own. */
export interface SharedParts {
  readonly counters: CounterHost;
  readonly slots: SlotCounter;
  /** Serves the connections that the primary hands over; resolves with its address. */
  listen(server: Server): Promise<string>;
  /** The process that delivers webhooks, which the primary has started. */
  readonly deliverer: Deliverer;
  /** No further connection is handed to this process, once it has resolved. */
  readonly stopHandingOver: () => Promise<void>;
  /** The metrics of all, to whom this process reports its own until it stops. */
  metricsOf(own: Pick<Metrics, 'values'>): MetricsSource & { stop(): Promise<void> };
}

type AskedPrimary = Pick<ParentConnection, 'ask' | 'handle' | 'takeSlot' | 'releaseSlot' | 'ready'>;

/** A worker that is killed loses what it has counted since. */
const reportMetricsMillis = 2_000;

/** All but `deliverer` throw UNAVAILABLE while the primary is silent. */
export function sharedParts(primary: AskedPrimary): SharedParts {
  const ask = (name: string, value?: unknown): Promise<unknown> => primary.ask(name, value).catch(throwUnavailable);
  return {
    counters: {
      decide: (request) => ask('decide', request) as Promise<CounterResponse>,
      offer: async (table: UsageTable, clockOffset: number) => {
        primary.handle('load days', (openedAfter) => table.loadDays(openedAfter as number));
        primary.handle('save usage', (usages) => table.save(usages as readonly SubjectUsage[]));
        await ask('offer table', clockOffset);
      },
      setClock: (clockOffset) => inBackground(ask('set clock', clockOffset)),
      saveUsage: () => ask('save usage now') as Promise<void>,
      withdraw: () => ask('withdraw table') as Promise<void>,
    },
    slots: {
      take: (of, clientId, most) => primary.takeSlot(of, clientId, most).catch(throwUnavailable),
      release: (of, clientId) => primary.releaseSlot(of, clientId),
    },
    listen: async (server) => {
      serveHandedConnections(server);
      await primary.ready();
      return String(await ask('address'));
    },
    deliverer: {
      ask: (name, value) => primary.ask('deliverer', [name, value]),
      // The primary ends it.
      stop: async () => undefined,
    },
    // A silent primary hands nothing over.
    stopHandingOver: async () => {
      await primary.ask('stop listening').catch(() => undefined);
    },
    metricsOf: (own) => {
      const report = async (): Promise<unknown> =>
        primary.ask('report metrics', await own.values()).catch(() => undefined);
      primary.handle('metrics', () => own.values());
      const reporting = every(reportMetricsMillis, report);
      return {
        text: async () => (await ask('all metrics')) as string,
        stop: async () => {
          clearInterval(reporting);
          await report();
        },
      };
    },
  };
}

function throwUnavailable(error: unknown): never {
  throw error instanceof ParentSilent ? unavailable(error) : error;
}
