import type { FastifyInstance } from 'fastify';

import type { OnRefusal } from '../http/observe/bounds.ts';
import type { Metrics } from '../http/observe/metrics.ts';
import { createMetricsServer, type MetricsSource, registerMetrics } from '../http/observe/metrics-server.ts';
import type { Callers } from '../platform/callers/index.ts';
import type { Config } from '../settings/config.ts';
import { type ProcessMetrics, sumOf } from '../platform/workers/index.ts';
import { listenOn } from './listen.ts';
import type { SharedParts } from './shared-parts.ts';

export interface MetricsPagesOptions {
  readonly config: Pick<Config, 'host' | 'metricsPort'>;
  readonly metrics: Metrics;
  readonly callers: Callers;
  readonly shared?: SharedParts | undefined;
  readonly delivererMetrics?: (() => Promise<ProcessMetrics>) | undefined;
  readonly onRefusal: OnRefusal;
}

/** `/metrics` on the service's own server, or at METRICS_PORT, which is the primary's where there are workers. */
export function openMetricsPages(server: FastifyInstance, options: MetricsPagesOptions) {
  const { config, callers, shared, delivererMetrics, onRefusal } = options;
  const { host, metricsPort } = config;
  const all = shared?.metricsOf(options.metrics);
  const metrics: MetricsSource =
    delivererMetrics === undefined
      ? options.metrics
      : {
          text: async () => sumOf({ service: await options.metrics.values(), deliverer: await delivererMetrics() }),
        };
  const hasOwn = metricsPort !== undefined && shared === undefined;
  const own = hasOwn ? createMetricsServer(metrics, callers, onRefusal) : undefined;
  if (metricsPort === undefined) registerMetrics(server, all ?? metrics);
  return {
    listen: async (): Promise<void> => {
      if (own === undefined || metricsPort === undefined) return;
      server.log.info({ url: await listenOn(own, host, metricsPort, 'METRICS_PORT') }, 'metrics');
    },
    stop: async (): Promise<void> => {
      await own?.close();
      await all?.stop();
    },
  };
}
