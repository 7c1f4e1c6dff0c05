import type { FastifyBaseLogger } from 'fastify';

import type { Services } from '../domain/services.ts';
import { createLoaders, type Loaders } from './loaders.ts';

/** What the resolvers of one request share. Apollo copies it, so it has no private fields. */
export class GraphQLContext {
  readonly services: Services;
  readonly log: FastifyBaseLogger;
  loaders: Loaders;

  constructor(services: Services, log: FastifyBaseLogger) {
    this.services = services;
    this.log = log;
    this.loaders = createLoaders(services);
  }

  /**
   * Runs a root mutation, and begins with fresh loaders afterwards: those before remember what it has changed.
   *
   * Root mutations run one after another, payloads included, so that nobody else's loaders are taken away.
   */
  async mutate<T>(work: (services: Services) => Promise<T>): Promise<T> {
    try {
      return await work(this.services);
    } finally {
      this.loaders = createLoaders(this.services);
    }
  }
}
