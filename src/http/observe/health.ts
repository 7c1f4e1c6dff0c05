import type { FastifyInstance } from 'fastify';

import { quoted } from '../../domain/errors.ts';
import { within } from '../../platform/background.ts';
import { plainText } from '../../platform/shown-error.ts';

type CheckName = 'started' | 'draining' | 'database' | 'migrations';

/** The reason of each check that failed; public, so without internal details. */
type Findings = { readonly [name in CheckName]?: string | undefined };

/** A standby that may serve reads. */
interface ReplicaFinding {
  readonly server: string;
  /** Why the primary serves its reads. */
  readonly problem: string | undefined;
}

/** `replicas` and `warnings` are for operators: they make nothing fail. */
interface DatabaseFindings extends Pick<Findings, 'database' | 'migrations'> {
  readonly replicas?: readonly ReplicaFinding[];
  readonly warnings?: readonly string[];
}

export interface HealthOptions {
  /** Finds the failing checks of the database; migrations are those seen last where it isn't reached. */
  readonly checkReady: () => Promise<DatabaseFindings>;
  readonly isDraining: () => boolean;
  /** How long the result of a check is used again. */
  readonly checkEveryMillis?: number;
}

/** `?verbose` and `?exclude=NAME`, which may be repeated, as the API server of Kubernetes has them. */
interface ReadyQuery {
  readonly verbose?: unknown;
  readonly exclude?: string | readonly string[];
}

const checkNames: readonly CheckName[] = ['started', 'draining', 'database', 'migrations'];
const checkTimeoutMillis = 2_000;

/** How long a response waits for the database that doesn't depend on it: then what was seen last counts. */
const briefMillis = 250;

const retryAfterSeconds = 5;

/** `/healthz`: the process is alive. `/readyz`: it can serve. Probes call both often. */
export function registerHealth(server: FastifyInstance, options: HealthOptions): void {
  const config = { isPublic: true, isServedUnderOverload: true };
  const store = new StoreFindings(options);

  server.get('/healthz', { config }, async (_request, reply) => {
    return reply.header('cache-control', 'no-store').send({ status: 'ok' });
  });
  server.get<{ Querystring: ReadyQuery }>('/readyz', { config }, async ({ query }, reply) => {
    const excluded = new Set([query.exclude ?? []].flat());
    const isDraining = options.isDraining();
    const isBrief = isDraining || excluded.has('database');
    const { warnings = [], replicas = [], ...ofDatabase } = await store.current({ isBrief });
    const findings: Findings = {
      ...ofDatabase,
      ...(isDraining && { draining: 'The service is shutting down.' }),
    };
    const reasons = checkNames.flatMap((name) => (excluded.has(name) ? [] : (findings[name] ?? [])));
    void reply.header('cache-control', 'no-store');
    if (reasons.length > 0) void reply.code(503).header('retry-after', String(retryAfterSeconds));
    if (query.verbose !== undefined) {
      return reply
        .type('text/plain; charset=utf-8')
        .send(verboseText(findings, excluded, [...replicas.map(replicaText), ...warnings.map(warningText)]));
    }
    return reply.send(reasons.length === 0 ? { status: 'ready' } : { status: 'unavailable', reasons });
  });
}

function verboseText(findings: Findings, excluded: ReadonlySet<string>, remarks: readonly string[]): string {
  const lines = checkNames.map((name) => {
    if (excluded.has(name)) return `[+]${name} excluded: ok\n`;
    return findings[name] === undefined ? `[+]${name} ok\n` : `[-]${name} failed\n`;
  });
  const unknown = [...excluded].filter((name) => !checkNames.some((known) => known === name));
  if (unknown.length > 0) lines.push(`warn: no checks to exclude are called ${unknown.map(quoted).join(', ')}\n`);
  return [...lines, ...remarks].join('');
}

function replicaText({ server, problem }: ReplicaFinding): string {
  if (problem === undefined) return `[+]replica ${server} ok\n`;
  return warningText(`the primary serves the reads of the replica ${server}: ${problem}`);
}

function warningText(warning: string): string {
  return `warn: ${plainText(warning).replaceAll(/\s+/g, ' ')}\n`;
}

/** The state as last seen: `/readyz` is public, so all callers share one check, repeated after a while. */
class StoreFindings {
  readonly #options: HealthOptions;
  #last: DatabaseFindings = {};
  #checking: Promise<void> | undefined;
  #checkedAt = -Infinity;

  constructor(options: HealthOptions) {
    this.#options = options;
  }

  async current({ isBrief }: { readonly isBrief: boolean }): Promise<DatabaseFindings> {
    const { checkEveryMillis = 1_000 } = this.#options;
    if (this.#checking === undefined || performance.now() - this.#checkedAt >= checkEveryMillis) {
      this.#checkedAt = Infinity;
      this.#checking = this.#check().finally(() => (this.#checkedAt = performance.now()));
    }
    await (isBrief ? within(briefMillis, this.#checking) : this.#checking);
    return this.#last;
  }

  async #check(): Promise<void> {
    const failed = (database: string): DatabaseFindings => ({ ...this.#last, database });
    const check = this.#options.checkReady().catch(() => failed('The store is not available.'));
    this.#last = (await within(checkTimeoutMillis, check)) ?? failed('The store takes too long to respond.');
  }
}
