import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { PostgresCluster } from '../support/postgres-cluster.ts';
import { guideCommands } from './guide.ts';
import { OtlpCollector } from './otlp-collector.ts';
import { adminKey, repository, startService } from './running-command.ts';

const directory = mkdtempSync(join(tmpdir(), 'petstore-traces-'));
let cluster: PostgresCluster;
let collector: OtlpCollector;
let service: Awaited<ReturnType<typeof startService>>;

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
  service = await startService(settings, { command: `env ${command}`, directory });
});

afterAll(async () => {
  await service.process.stop();
  collector.close();
  cluster.remove();
  rmSync(directory, { recursive: true });
});

test('the documented command exports the spans of a request into the trace of its client, and its log line names the trace', async () => {
  const response = await fetch(`${service.address}/graphql`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${adminKey}`,
      'content-type': 'application/json',
      traceparent: `00-${traceId}-${clientSpanId}-01`,
    },
    body: JSON.stringify({ query: 'query Traced { pets(first: 1) { edges { node { name } } } }' }),
  });
  expect(response.status).toBe(200);
  const [line] = await service.process.line(/^\{.*"route":"\/graphql".*\}$/);
  expect(JSON.parse(line)).toMatchObject({ trace_id: traceId, requestId: response.headers.get('x-request-id') });

  // The last spans are exported before the process ends.
  expect(await service.process.stop()).toBe(0);
  const spans = collector.spans.filter((span) => span.traceId === traceId);
  const scopes = new Set(spans.map(({ scope }) => scope.replace('@opentelemetry/instrumentation-', '')));
  expect(spans.every((span) => span.service === 'petstore')).toBe(true);
  expect(spans.find((span) => span.parentSpanId === clientSpanId)?.scope).toBe('@opentelemetry/instrumentation-http');
  expect([...scopes]).toEqual(expect.arrayContaining(['http', 'graphql', 'pg']));
});
