import type { FastifyBaseLogger, FastifyRequest } from 'fastify';

import type { Principal } from '../domain/access/principal.ts';
import type { Services } from '../domain/services.ts';
import type { Meter } from '../http/authentication.ts';
import { Loaders } from './loaders.ts';
import type { CountParents, NestedQuota } from './nested-quota.ts';

/** What the resolvers of one request share. */
export class GraphQLContext {
  readonly services: Services;
  readonly request: Pick<FastifyRequest, 'log' | 'principal' | 'meter' | 'operation' | 'graphql' | 'body' | 'url'>;
  readonly log: FastifyBaseLogger;
  /** The holder of the key. */
  readonly principal: Principal;
  /** Spends the cost of the request. */
  readonly meter: Meter;
  readonly countParents: CountParents;
  loaders: Loaders;

  constructor(services: Services, nestedQuota: NestedQuota, request: GraphQLContext['request']) {
    this.services = services;
    this.request = request;
    this.log = request.log;
    this.principal = request.principal;
    this.meter = request.meter;
    this.countParents = nestedQuota.counterFor(request.principal);
    this.loaders = new Loaders(services, this.countParents);
  }

  /**
   * Runs a root mutation, and replaces the loaders afterwards, because they cache rows that it has changed.
   *
   * Root mutations run one after another, payloads included, so that no other mutation's loaders are replaced.
   */
  async mutate<T>(work: (services: Services) => Promise<T>): Promise<T> {
    try {
      return await work(this.services);
    } finally {
      this.loaders = new Loaders(this.services, this.countParents);
    }
  }
}
