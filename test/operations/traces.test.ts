import { randomBytes } from 'node:crypto';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from '@jest/globals';

import { atEnd } from '../support/at-end.ts';
import { startCluster } from '../support/started-cluster.ts';
import { repository } from '../support/running-command.ts';
import { adminKey, Service } from '../support/service.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';
import { takeBlock } from './command-blocks.ts';
import { OtlpCollector, type Span } from './otlp-collector.ts';

const directory = temporaryDirectory();

const [cluster, collector] = await Promise.all([startCluster(), OtlpCollector.start()]);
// Where the guide installs the packages beside the program, they are those of this folder's own package.json.
symlinkSync(join(import.meta.dirname, 'node_modules'), join(directory, 'node_modules'));
symlinkSync(join(repository, 'dist'), join(directory, 'dist'));
writeFileSync(join(directory, 'environment'), `DATABASE_URL=${cluster.url}\n`);
const command = takeBlock(
  'OpenTelemetry 2',
  ['/etc/petstore', directory],
  ['http://127.0.0.1:4318', collector.address],
);
const service = await Service.start({ OTEL_BSP_SCHEDULE_DELAY: '100' }, { command: `env ${command}`, directory });
atEnd(() => collector.close());

/** The exported spans of a trace, once this many of the service's own operations are among them. */
async function spansOf(trace: string, operations: number): Promise<Span[]> {
  const spans = () => collector.spans.filter((span) => span.traceId === trace);
  await until(() => spans().filter(isOperation).length >= operations);
  return spans();
}

function isOperation({ scope, name }: Span): boolean {
  return scope === 'petstore-gateway' && /^(?:query|mutation|subscription) /.test(name);
}

function attribute({ attributes }: Span, name: string): unknown {
  const { stringValue, arrayValue } = attributes.find(({ key }) => key === name)?.value ?? {};
  return stringValue ?? arrayValue?.values.map((value) => value.stringValue);
}

/** A trace of its own, as W3C Trace Context writes it. */
function newTrace(): { readonly traceId: string; readonly clientSpanId: string; readonly traceparent: string } {
  const [traceId, clientSpanId] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
  return { traceId, clientSpanId, traceparent: `00-${traceId}-${clientSpanId}-01` };
}

test('an operation is a span in the trace of its client, known ones too, with its statements below it; its log line names the trace', async () => {
  const { traceId, clientSpanId, traceparent } = newTrace();
  const body = { query: 'query Traced { ps: pets(first: 1) { edges { node { name } } } }' };
  for (let time = 1; time <= 3; time += 1) {
    const response = await service.post('/graphql', body, { traceparent });
    const requestId = response.headers.get('x-request-id');
    const [line] = await service.line(new RegExp(`^\\{.*"requestId":"${requestId}".*"route":"/graphql".*\\}$`));
    expect(JSON.parse(line)).toMatchObject({ trace_id: traceId, status: 200 });
  }
  const spans = await spansOf(traceId, 3);
  expect(spans.every((span) => span.service === 'petstore')).toBe(true);
  const operations = spans.filter(isOperation);
  expect(operations).toHaveLength(3);
  for (const operation of operations) {
    expect(operation.name).toBe('query pets');
    expect(attribute(operation, 'graphql.operation.type')).toBe('query');
    expect(attribute(operation, 'graphql.root_fields')).toEqual(['pets']);
    const request = spans.find(({ spanId }) => spanId === operation.parentSpanId);
    expect(request).toMatchObject({ scope: '@opentelemetry/instrumentation-http', parentSpanId: clientSpanId });
    const statements = spans.filter(({ parentSpanId }) => parentSpanId === operation.spanId);
    expect(statements.map(({ name }) => name)).toEqual(['SELECT']);
    expect(attribute(statements[0]!, 'db.query.text')).toMatch(/^select .* from pets /s);
  }
});

test('a statement on a connection of its own is a span too, each of a transaction', async () => {
  const { traceId, traceparent } = newTrace();
  const mutation = 'mutation { createCategory(input: { name: "Traced" }) { category { id } } }';
  const headers = { traceparent, 'idempotency-key': 'traced' };
  expect((await service.post('/graphql', { query: mutation }, headers)).status).toBe(200);
  const [operation, ...others] = (await spansOf(traceId, 1)).filter(isOperation);
  expect([operation?.name, others]).toEqual(['mutation createCategory', []]);
  // What is sent together is one span.
  const texts = collector.spans
    .filter(({ parentSpanId }) => parentSpanId === operation?.spanId)
    .map((span) => attribute(span, 'db.query.text'))
    .join('; ');
  for (const verb of ['begin', 'select', 'insert', 'commit']) expect(texts).toMatch(new RegExp(`\\b${verb}\\b`));
});

test('a subscription is a span until its stream has begun; what is read for all streams belongs to no trace', async () => {
  const { traceId, clientSpanId, traceparent } = newTrace();
  const authorization = `Bearer ${adminKey}`;
  const headers = { traceparent, authorization, accept: 'text/event-stream', 'content-type': 'application/json' };
  const body = JSON.stringify({ query: 'subscription { events { id type } }' });
  const abort = new AbortController();
  const response = await fetch(`${service.address}/graphql`, { method: 'POST', headers, body, signal: abort.signal });
  const reader = response.body!.getReader();
  let text = '';
  await until(async () => {
    await service.graphql('mutation { createCategory(input: { name: "Streamed" }) { category { id } } }');
    text += new TextDecoder().decode((await reader.read()).value);
    return text.includes('event: next');
  });
  abort.abort();
  const isOfTrace = (span: Span): boolean => span.traceId === traceId;
  const request = (): Span | undefined =>
    collector.spans.find((span) => isOfTrace(span) && span.parentSpanId === clientSpanId);
  await until(() => request() !== undefined);
  const [operation, ...others] = collector.spans.filter((span) => isOfTrace(span) && isOperation(span));
  expect([operation?.name, operation?.parentSpanId, others]).toEqual(['subscription events', request()?.spanId, []]);
  expect(attribute(operation!, 'graphql.operation.type')).toBe('subscription');
  expect(attribute(operation!, 'graphql.root_fields')).toEqual(['events']);
  const statements = collector.spans.filter((span) => isOfTrace(span) && span.name === 'SELECT');
  // The position at which it begins.
  expect(statements.map(({ parentSpanId }) => parentSpanId)).toEqual([operation?.spanId]);
});

test('a statement that serves several requests is linked to each of them', async () => {
  const shared = (): Span | undefined => collector.spans.find(({ links = [] }) => links.length > 1);
  await until(async () => {
    const query = 'query ($id: ID!) { pet(id: $id) { name } }';
    const ask = (id: number) => service.post('/graphql', { query, variables: { id } }, newTrace());
    await Promise.all(Array.from({ length: 20 }, (_, index) => ask(index + 1)));
    return shared() !== undefined;
  });
  const { links = [], parentSpanId } = shared()!;
  await until(() => links.every(({ spanId }) => collector.spans.some((span) => span.spanId === spanId)));
  const linked = links.map(({ spanId }) => collector.spans.find((span) => span.spanId === spanId)!);
  expect(linked.every(isOperation)).toBe(true);
  expect(new Set(linked.map(({ traceId }) => traceId)).size).toBe(links.length);
  expect(links.map(({ spanId }) => spanId)).toContain(parentSpanId);
});

test('no span shows a key, wherever a client puts it, a query string, or the value of a variable', async () => {
  const { traceId, clientSpanId, traceparent } = newTrace();
  const created = await service.graphql(
    'mutation { createApiKey(input: { name: "traced", plan: BUSINESS, scopes: [READ, WRITE] }) { secret } }',
  );
  const secret = created.body.data.createApiKey.secret as string;
  const headers = { traceparent, authorization: `Bearer ${secret}`, 'user-agent': `client ${secret}` };
  const escaped = `%${secret.charCodeAt(0).toString(16)}${secret.slice(1)}`;
  for (const path of [`/${secret}`, `/${escaped}`, `/pets?cursor=${secret}`, `/pets?nameContains=Hidden`]) {
    await service.get(path, headers);
  }
  const query = `query ${secret}($name: String!) { pets(first: 1, filter: { nameContains: $name }) { nodes { id } } }`;
  expect((await service.post('/graphql', { query, variables: { name: 'Hidden' } }, headers)).status).toBe(200);
  await until(() => collector.spans.filter((span) => span.parentSpanId === clientSpanId).length === 5);
  expect((await spansOf(traceId, 1)).filter((span) => attribute(span, 'url.path') === '/pets')).toHaveLength(2);
  const text = JSON.stringify(collector.spans);
  expect(text).not.toContain(secret);
  expect(text).not.toContain(secret.slice(1));
  expect(text).not.toContain('Hidden');
});
