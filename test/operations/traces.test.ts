import { symlinkSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { PostgresCluster } from '../support/postgres-cluster.ts';
import { repository } from '../support/running-command.ts';
import { Service } from '../support/service.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { guideCommands } from './guide.ts';
import { OtlpCollector } from './otlp-collector.ts';

const directory = temporaryDirectory();
let cluster: PostgresCluster;
let collector: OtlpCollector;
let service: Service;

/** The trace of a client, as W3C Trace Context writes it. */
const traceId = '0af7651916cd43dd8448eb211c80319c';
const clientSpanId = 'b7ad6b7169203331';

beforeAll(async () => {
  [cluster, collector] = await Promise.all([PostgresCluster.create(), OtlpCollector.start()]);
  // Where the guide installs the packages beside the program, they are those of this folder's own package.json.
  symlinkSync(join(import.meta.dirname, 'node_modules'), join(directory, 'node_modules'));
  symlinkSync(join(repository, 'dist'), join(directory, 'dist'));
  const command = guideCommands('OpenTelemetry')
    .find((line) => line.includes('dist/src/main.js'))!
    .replace('http://127.0.0.1:4318', collector.address);
  const settings = { DATABASE_URL: cluster.url, OTEL_BSP_SCHEDULE_DELAY: '100' };
  service = await Service.start(settings, { command: `env ${command}`, directory });
});

afterAll(async () => {
  await service.stop();
  collector.close();
  cluster.remove();
});

test('the documented command exports the spans of a request into the trace of its client, and its log line names the trace', async () => {
  const body = { query: 'query Traced { pets(first: 1) { edges { node { name } } } }' };
  const response = await service.post('/graphql', body, { traceparent: `00-${traceId}-${clientSpanId}-01` });
  expect(response.status).toBe(200);
  const [line] = await service.line(/^\{.*"route":"\/graphql".*\}$/);
  expect(JSON.parse(line)).toMatchObject({ trace_id: traceId, requestId: response.headers.get('x-request-id') });

  // The last spans are exported before the process ends.
  expect(await service.stop()).toBe(0);
  const spans = collector.spans.filter((span) => span.traceId === traceId);
  const scopes = new Set(spans.map(({ scope }) => scope.replace('@opentelemetry/instrumentation-', '')));
  expect(spans.every((span) => span.service === 'petstore')).toBe(true);
  expect(spans.find((span) => span.parentSpanId === clientSpanId)?.scope).toBe('@opentelemetry/instrumentation-http');
  expect([...scopes]).toEqual(expect.arrayContaining(['http', 'graphql', 'pg']));
});
