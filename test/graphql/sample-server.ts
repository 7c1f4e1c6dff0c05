import 'reflect-metadata';

import type { FastifyInstance, LightMyRequestResponse } from 'fastify';
import { buildSchema, type GraphQLResolveInfo, type GraphQLSchema } from 'graphql';

import { DomainError, notFound, unavailable } from '../../src/domain/errors.ts';
import type { IdempotencyService } from '../../src/domain/idempotency/idempotency.service.ts';
import type { Stores } from '../../src/domain/stores.ts';
import type { EventStreams } from '../../src/graphql/streams/event-streams.ts';
import { createGraphQLServer, type GraphQLServerOptions } from '../../src/graphql/pipeline/server.ts';
import { registerApi } from '../../src/http/api.ts';
import type { Bound } from '../../src/http/observe/bounds.ts';
import { createServer } from '../../src/http/server.ts';
import { admitAll, anyDelay } from '../support/bare-server.ts';
import { atEnd } from '../support/at-end.ts';

/** A small store with fields that fail on request. */
const typeDefs = `
  scalar Day
  enum Status { AVAILABLE SOLD }
  enum Failure { NOT_FOUND CONFLICT UNAVAILABLE BUG }
  input PetFilter { nameContains: String, statusIn: [Status!], bornFrom: Day, and: PetFilter }
  input CreatePetInput { name: String!, age: Int, status: Status = AVAILABLE, born: Day, motherId: ID }
  interface Node { id: ID! }
  type Category implements Node { id: ID!, name: String!, pets(first: Int, last: Int, filter: PetFilter): PetConnection }
  type Pet implements Node { id: ID!, name: String!, motherId: ID, category: Category, friend: Pet }
  type PetEdge { cursor: String!, node: Pet! }
  type PageInfo { hasNextPage: Boolean! }
  type PetConnection { edges: [PetEdge!]!, nodes: [Pet!]!, pageInfo: PageInfo!, totalCount: Int! }
  type CreatePetPayload { pet: Pet }
  type Query {
    pet(id: ID!): Pet
    node(id: ID!): Node
    nodes(nodeIds: [ID!]!): [Node]!
    echo(id: ID, text: String): String
    pets(first: Int, last: Int, filter: PetFilter): PetConnection
    total(number: Int! = 5): Int
    fail(how: Failure!): String
    discarded(text: String): Discarded
    failures(count: Int!): [String]!
    wait(text: String): String
  }
  type Discarded { text: String, strict: String! }
  type Mutation { createPet(input: CreatePetInput!): CreatePetPayload, fail(how: Failure!): String }
`;

export const internalText = 'relation "pets" does not exist at /srv/app/secret.ts';

const failures = {
  NOT_FOUND: () => notFound('pet', '42'),
  CONFLICT: () => new DomainError('CONFLICT', `The pet ${'x'.repeat(2000)} has orders.`),
  UNAVAILABLE: () => unavailable(new Error('connect ECONNREFUSED')),
  BUG: () => new TypeError(internalText),
};

function fail({ how }: { how: keyof typeof failures }): never {
  throw failures[how]();
}

/** What the field `wait` waits for. */
export const waiting: { promise: Promise<string> } = { promise: Promise.resolve('') };

/** The names of the pets that were created. */
const created: string[] = [];

const rootValue: Record<string, unknown> = {
  echo: ({ id, text }: { id?: string; text?: string }) => id ?? text,
  pets: () => ({ edges: [], nodes: [], pageInfo: { hasNextPage: false }, totalCount: 0 }),
  nodes: ({ nodeIds }: { nodeIds: string[] }) => nodeIds.map(() => null),
  total: ({ number }: { number: number }) => number,
  createPet: ({ input }: { input: { name: string; motherId?: string } }) => {
    created.push(input.name);
    return { pet: { id: '1', ...input } };
  },
  discarded: ({ text }: { text: string }) => ({ text, strict: null }),
  failures: ({ count }: { count: number }) => Array.from({ length: count }, () => notFound('pet', '42')),
  fail,
  wait: () => waiting.promise,
};

function createSampleSchema(): GraphQLSchema {
  const schema = buildSchema(typeDefs);
  for (const type of [schema.getQueryType()!, schema.getMutationType()!]) {
    for (const [name, field] of Object.entries(type.getFields())) {
      const value = rootValue[name];
      field.resolve = (_source: unknown, args: unknown, _context: unknown, _info: GraphQLResolveInfo): unknown =>
        typeof value === 'function' ? (value as (given: unknown) => unknown)(args) : null;
    }
  }
  Object.assign(schema.getType('Day')!, {
    parseValue: parseDay,
    parseLiteral: (node: object) => parseDay(Object(node)['value']),
  });
  return schema;
}

function parseDay(value: unknown): unknown {
  if (typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value)) return value;
  throw new TypeError('A Day is written as 2026-11-21.');
}

/** Those of the service itself. */
export const sampleLimits: GraphQLServerOptions['limits'] = {
  maxDepth: 15,
  maxComplexity: 5000,
  maxAliases: 50,
  maxFields: 1000,
  maxTokens: 2000,
  maxResponseBytes: 8 * 1024 * 1024,
};

interface Outcome {
  readonly status: number;
  readonly data?: Record<string, unknown>;
  readonly errors: readonly { message: string; path?: unknown[]; extensions: Record<string, unknown> }[];
}

export interface SampleServer {
  readonly server: FastifyInstance;
  /** The lines of the log, parsed. */
  readonly log: Record<string, unknown>[];
  /** The bounds that were gone beyond. */
  readonly refusals: Bound[];
  /** The names of the pets that were created, by any request. */
  readonly created: readonly string[];
  post(body: unknown, headers?: Record<string, string>): Promise<LightMyRequestResponse>;
  get(query: Record<string, string>, headers?: Record<string, string>): Promise<LightMyRequestResponse>;
  /** What comes back for a query. */
  readonly run: (query: string, variables?: Record<string, unknown>) => Promise<Outcome>;
}

/** The real HTTP server with Apollo Server on it, over a schema that needs no database. */
export async function startSampleServer(options: Partial<GraphQLServerOptions> = {}): Promise<SampleServer> {
  const log: Record<string, unknown>[] = [];
  const refusals: Bound[] = [];
  const server = createServer({
    logLevel: 'warn',
    logStream: { write: (line) => log.push(JSON.parse(line)) },
    limits: anyDelay,
  });
  const graphql = await createGraphQLServer({
    accounts: server.callers.accounts,
    schema: createSampleSchema(),
    idempotency: {} as IdempotencyService,
    streams: {} as EventStreams,
    // None of the resolvers above asks a service.
    stores: { for: () => ({}) as Stores },
    services: {},
    introspection: true,
    limits: sampleLimits,
    log: server.log,
    onRefusal: (bound) => refusals.push(bound),
    onErrors: () => undefined,
    ...options,
  });
  await registerApi(server, admitAll(), [graphql.routes]);
  server.addHook('onClose', graphql.stop);
  await server.ready();
  atEnd(() => server.close());
  const post: SampleServer['post'] = (body, headers = {}) =>
    server.inject({
      method: 'POST',
      url: '/graphql',
      headers: { 'content-type': 'application/json', ...headers },
      payload: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body),
    });
  return {
    server,
    log,
    refusals,
    created,
    post,
    get: (query, headers = {}) =>
      server.inject({ method: 'GET', url: '/graphql', query, headers: { 'x-api-key': 'any', ...headers } }),
    run: async (query, variables = {}) => {
      const response = await post({ query, variables });
      return { status: response.statusCode, errors: [], ...response.json<object>() };
    },
  };
}
