import { expect } from '@jest/globals';

import type { StoreClient } from '../support/service.ts';

const createCategory = 'mutation { createCategory(input: { name: "Dogs" }) { category { id } } }';
const reads = [
  '{ pets(first: 5) { totalCount edges { node { id name } } } }',
  '{ pet(id: 1) { id } }',
  '{ categories(first: 3) { edges { node { id name } } } }',
];

/** Requests of each kind that the database serves: shared and exclusive reads, transactions, many at once. */
export class MixedLoad {
  /** How many categories were created. */
  written = 0;
  readonly #service: StoreClient;

  constructor(service: StoreClient) {
    this.#service = service;
  }

  /** The statuses that occurred. Each 503 has a Retry-After. */
  async run(rounds: number): Promise<Set<number>> {
    const statuses = new Set<number>();
    for (let round = 0; round < rounds; round += 1) {
      const queries = [...reads, ...reads, createCategory, createCategory];
      const responses = await Promise.all(queries.map((query) => this.#service.graphql(query)));
      for (const [index, { status, headers }] of responses.entries()) {
        if (status === 503) expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
        if (status === 200 && queries[index] === createCategory) this.written += 1;
        statuses.add(status);
      }
    }
    return statuses;
  }
}
