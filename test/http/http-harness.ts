import type { FastifyInstance } from 'fastify';

import type { Principal } from '../../src/domain/access/principal.ts';
import { registerApi, type ApiRoutes } from '../../src/http/api.ts';
import { Authentication, type AuthenticationOptions } from '../../src/http/authentication.ts';
import { renderErrorPage } from '../../src/pages/error-page.ts';
import { registerExplorer } from '../../src/pages/explorer.routes.ts';
import { registerHealth, type HealthOptions } from '../../src/http/observe/health.ts';
import { registerPages } from '../../src/pages/landing.routes.ts';
import { createServer, type ServerOptions } from '../../src/http/server.ts';
import { MemoryCounterStore } from '../../src/platform/quotas/memory-counter-store.ts';
import { QuotaService } from '../../src/platform/quotas/quota.service.ts';
import { atEnd } from '../support/at-end.ts';
import { admitAll, anyDelay } from '../support/bare-server.ts';

export interface HttpHarness {
  readonly server: FastifyInstance;
  /** The lines of the log so far. */
  readonly log: Record<string, unknown>[];
}

type Options = Partial<ServerOptions> &
  Partial<HealthOptions> & {
    readonly authentication?: FastifyInstance['authentication'];
    readonly routes?: ApiRoutes;
    readonly pages?: (server: FastifyInstance) => void;
    readonly builtExplorer?: string;
    readonly hasSchema?: boolean;
  };

/** The HTTP layer alone, with a few routes instead of REST and GraphQL. */
export async function startHttp(options: Options = {}): Promise<HttpHarness> {
  const {
    checkReady = async () => ({}),
    isDraining = () => false,
    checkEveryMillis,
    routes,
    pages,
    ...others
  } = options;
  const { authentication = admitAll(), builtExplorer = '/nowhere', hasSchema = true, ...rest } = others;
  const log: Record<string, unknown>[] = [];
  const logStream = { write: (line: string) => void log.push(JSON.parse(line)) };
  const limits = { ...anyDelay, ...rest.limits };
  const server = createServer({ logLevel: 'debug', logStream, renderErrorPage, ...rest, limits });
  registerHealth(server, { checkReady, isDraining, ...(checkEveryMillis === undefined ? {} : { checkEveryMillis }) });
  registerPages(server);
  pages?.(server);
  registerExplorer(server, builtExplorer, { introspection: hasSchema });
  await registerApi(server, authentication, [exampleRoutes, ...(routes === undefined ? [] : [routes])]);
  await server.ready();
  atEnd(() => server.close());
  return { server, log };
}

/** The options of a route that any valid key may use. */
export const anyKey = { config: { scopes: [] } };

async function exampleRoutes(api: FastifyInstance): Promise<void> {
  api.addContentTypeParser('application/json', (request, payload, done) => {
    request.server.bodies.read(request, payload, (error, body) =>
      error === null ? done(null, body.toString()) : done(error),
    );
  });
  api.get('/things', anyKey, async () => ['a thing']);
  api.post('/things', anyKey, async (request, reply) => reply.code(201).send({ body: request.body ?? null }));
  api.patch('/things/:id', anyKey, async (request) => request.params);
  const config = { scopes: [], errorFormat: 'graphql', isNeverStored: true } as const;
  api.route({ method: ['GET', 'POST'], url: '/graphql', config, handler: async () => ({ data: {} }) });
}

/** Somebody with a key, who has 1,000 requests in a minute. */
export function holderOf(id: string, given: Partial<Principal> = {}): Principal {
  const limits = { requestsPerMinute: 1_000, requestsPerDay: 100_000 };
  const bans = { epoch: 0, bannedUntil: 0, automaticBans: [] };
  const holder = { id, name: id, plan: 'enterprise', scopes: ['write'], expiresAt: null, isAnonymous: false } as const;
  return { ...holder, limits, bans, ...given };
}

interface Counting extends Pick<AuthenticationOptions, 'onDecision'> {
  readonly find: (key: string) => Principal | undefined;
  readonly banAfter?: number;
  readonly onBan?: (id: string) => void;
  readonly now?: () => number;
}

/** By these keys, counted in memory. */
export function authenticationBy({ find, banAfter = 0, onBan, now = Date.now, onDecision }: Counting): Authentication {
  const counters = new MemoryCounterStore({ rules: { banAfter, banForSeconds: 900 }, now });
  const quota = new QuotaService(counters, ({ id }) => onBan?.(id));
  return new Authentication({ keys: { find: async (key) => find(key) }, quota, onDecision });
}
