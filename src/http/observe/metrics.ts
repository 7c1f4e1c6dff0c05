import { type Aggregator, collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

import { bounds } from './bounds.ts';

interface PoolFigures {
  readonly total: number;
  readonly idle: number;
  /** Requests that wait for a connection. */
  readonly waiting: number;
}

interface ServerSample {
  /** As DATABASE_URL names it. */
  readonly host: string;
  readonly role: string;
}

interface ReplicaSample {
  /** As DATABASE_REPLICAS names it. */
  readonly server: string;
  readonly lagBytes: number | undefined;
}

interface EventFigures {
  readonly lagSeconds: number;
  readonly logBytes: number;
}

/** Values that are read at each scrape. */
export interface MetricsSources {
  readonly pool: () => PoolFigures;
  /** The last known state of each server of the database. */
  readonly servers: () => readonly ServerSample[];
  readonly replicas: () => readonly ReplicaSample[];
  readonly clock: { readonly offsetSeconds: number };
  readonly events: EventFigures;
  readonly requestsUnderWay: () => number;
  /** Whole collections that are streamed. */
  readonly collections: () => number;
  readonly eventStreams: () => number;
  /** Whether the counters are shared at the moment; undefined without Redis. */
  readonly isCountingShared: () => boolean | undefined;
}

export interface WebhookFigures {
  /** By state. */
  readonly lagSeconds: Readonly<Record<'active' | 'failing', number>>;
  /** By state. */
  readonly endpoints: Readonly<Record<string, number>>;
}

export interface CompletedRequest {
  /** One of a limited number of names: never a path or anything else that clients choose. */
  readonly operation: string;
  readonly status: number;
  /** Undefined for what is in no histogram. */
  readonly seconds: number | undefined;
}

const latencyBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Gauges whose names end like those of counters (prom-client 15). Each is the sum of one by type. */
const misnamed = ['handles', 'requests', 'resources'].map((what) => `nodejs_active_${what}_total`);

/** The metrics for Prometheus. No label has a value that clients can choose. */
export class Metrics {
  readonly #registry = new Registry();
  readonly #requests = this.#counter(
    'requests_total',
    'Requests that have got a response, by operation and status.',
    'operation',
    'status',
  );
  readonly #seconds = new Histogram({
    name: 'petstore_request_duration_seconds',
    help: 'Seconds from the headers of a request to the end of its response.',
    labelNames: ['operation'],
    buckets: latencyBuckets,
    registers: [this.#registry],
  });
  readonly decisions = this.#counter(
    'quota_decisions_total',
    'Quota decisions, by plan and outcome.',
    'plan',
    'outcome',
  );
  readonly bans = this.#counter('bans_total', 'Keys banned for sending requests after their quota was spent.');
  readonly deprecatedCalls = this.#counter(
    'deprecated_calls_total',
    'Calls of deprecated operations, by plan.',
    'operation',
    'plan',
  );
  readonly refusals = this.#counter('refusals_total', 'Requests, responses and connections beyond a bound.', 'bound');
  readonly #graphqlErrors = this.#counter(
    'graphql_errors_total',
    'Errors in GraphQL responses, by the root fields of the operation and the code.',
    'operation',
    'code',
  );
  readonly failovers = this.#counter(
    'database_failovers_total',
    'How often the database was written to on another server than before.',
  );
  readonly #reads = this.#counter(
    'reads_total',
    'Reads that a replica may serve, by the server and by why the primary has served them.',
    'server',
    'reason',
  );
  readonly webhookAttempts = this.#counter(
    'webhook_attempts_total',
    'Attempts to deliver an event, by what came of them.',
    'result',
  );
  readonly droppedLogLines = this.#counter(
    'log_lines_dropped_total',
    'Log lines dropped because standard output was not read.',
  );

  readonly #hidesSchema: boolean;

  /** With `hidesSchema` the labels have no root fields of GraphQL. */
  constructor({ hidesSchema = false }: { readonly hidesSchema?: boolean } = {}) {
    this.#hidesSchema = hidesSchema;
    collectDefaultMetrics({ register: this.#registry });
    for (const name of misnamed) this.#registry.removeSingleMetric(name);
    // Without a first 0, Prometheus doesn't see the first refusal as an increase.
    for (const bound of bounds) this.refusals.inc({ bound }, 0);
  }

  /** Metrics that are read from their source each time. */
  watch(sources: MetricsSources): void {
    const { pool, servers, replicas, clock, events, requestsUnderWay, collections, eventStreams, isCountingShared } =
      sources;
    this.#gauge('database_connections', 'Connections to the database, by state.', ['state'], (gauge) => {
      const { total, idle } = pool();
      gauge.set({ state: 'busy' }, total - idle);
      gauge.set({ state: 'idle' }, idle);
    });
    const serverHelp =
      '1 for the role in which a host of DATABASE_URL was last seen: primary, standby, unreachable, unknown.';
    const showServers = (gauge: Gauge<'host' | 'role'>): void => {
      gauge.reset();
      for (const { host, role } of servers()) gauge.set({ host, role }, 1);
    };
    this.#gauge('database_server', serverHelp, ['host', 'role'], showServers, 'max');
    this.#watchReplicas(replicas);
    const figure = (name: string, help: string, read: () => number, aggregator?: Aggregator): void =>
      this.#gauge(name, help, [], (gauge) => gauge.set(read()), aggregator);
    figure('database_waiting', 'Requests that wait for a connection to the database.', () => pool().waiting);
    const underWayHelp = 'Requests that have started and whose responses have not been sent.';
    figure('requests_under_way', underWayHelp, requestsUnderWay);
    figure('streams', 'Whole collections being streamed.', collections);
    figure('event_streams', 'Open event streams.', eventStreams);
    const clockHelp = "This process's clock minus the database's, which times what processes share.";
    figure('clock_offset_seconds', clockHelp, () => clock.offsetSeconds, 'first');
    const lagHelp = 'How long the oldest committed change has been waiting to become an event.';
    figure('events_lag_seconds', lagHelp, () => events.lagSeconds, 'max');
    figure('events_log_bytes', 'The size of the log of events.', () => events.logBytes, 'max');
    const sharedHelp = '1 while quotas are counted together with the other processes, 0 while Redis is lost.';
    if (isCountingShared() !== undefined) figure('quota_shared', sharedHelp, () => Number(isCountingShared()), 'min');
  }

  #watchReplicas(replicas: () => readonly ReplicaSample[]): void {
    const help = 'How many bytes of the log a replica had not replayed yet when it was last asked.';
    const showLags = (gauge: Gauge<'server'>): void => {
      gauge.reset();
      for (const { server, lagBytes } of replicas()) if (lagBytes !== undefined) gauge.set({ server }, lagBytes);
    };
    this.#gauge('replica_lag_bytes', help, ['server'], showLags, 'max');
  }

  /** While webhooks are on. */
  watchWebhooks(webhooks: { readonly figures: WebhookFigures }): void {
    const lagHelp = 'How old the oldest event is that an endpoint of this process waits for, by its state.';
    this.#gauge(
      'webhook_lag_seconds',
      lagHelp,
      ['state'],
      showByState(() => webhooks.figures.lagSeconds),
      'max',
    );
    // Each process knows all of them.
    const endpointsHelp = 'Webhook endpoints, by state.';
    this.#gauge(
      'webhook_endpoints',
      endpointsHelp,
      ['state'],
      showByState(() => webhooks.figures.endpoints),
      'max',
    );
  }

  countRequest({ operation: name, status, seconds }: CompletedRequest): void {
    const operation = this.#shown(name);
    this.#requests.inc({ operation, status });
    if (seconds !== undefined) this.#seconds.observe({ operation }, seconds);
  }

  countRead({ server, reason }: { readonly server: string; readonly reason: string }): void {
    this.#reads.inc({ server, reason });
  }

  /** `operation` is made of the schema's root fields. */
  countGraphQLErrors(operation: string, codes: readonly string[]): void {
    for (const code of codes) this.#graphqlErrors.inc({ operation: this.#shown(operation), code });
  }

  /** Of an operation of GraphQL its kind alone, where the schema is hidden. */
  #shown(operation: string): string {
    return this.#hidesSchema ? operation.replace(/^(query|mutation|subscription) .*$/, '$1') : operation;
  }

  /** In the format of Prometheus. */
  text(): Promise<string> {
    return this.#registry.metrics();
  }

  /** The same as values, which another process can add up with those of others. */
  values(): ReturnType<Registry['getMetricsAsJSON']> {
    return this.#registry.getMetricsAsJSON();
  }

  #counter<Label extends string>(name: string, help: string, ...labelNames: Label[]): Counter<Label> {
    return new Counter({ name: `petstore_${name}`, help, labelNames, registers: [this.#registry] });
  }

  #gauge<Label extends string>(
    name: string,
    help: string,
    labelNames: Label[],
    collect: (gauge: Gauge<Label>) => void,
    aggregator: Aggregator = 'sum',
  ): void {
    const gauge: Gauge<Label> = new Gauge({
      name: `petstore_${name}`,
      help,
      labelNames,
      aggregator,
      registers: [this.#registry],
      collect: () => collect(gauge),
    });
  }
}

function showByState(read: () => Readonly<Record<string, number>>): (gauge: Gauge<'state'>) => void {
  return (gauge) => {
    for (const [state, value] of Object.entries(read())) gauge.set({ state }, value);
  };
}
