import { expect } from '@jest/globals';

import type { SampleServer } from '../sample-server.ts';

interface Outcome {
  readonly status: number;
  readonly errors: readonly { message: string; extensions: Record<string, unknown> }[];
}

type Variables = Record<string, unknown>;

/** Sends queries to a server and compares what comes back. */
export interface LimitedQueries {
  readonly run: (query: string, variables?: Variables) => Promise<Outcome>;
  readonly expectAllowed: (query: string, variables?: Variables) => Promise<void>;
}

export function queriesTo(serverOf: () => SampleServer): LimitedQueries {
  const run: LimitedQueries['run'] = async (query, variables = {}) => {
    const response = await serverOf().post({ query, variables });
    const { errors = [] } = response.json();
    return { status: response.statusCode, errors };
  };
  return {
    run,
    expectAllowed: async (query, variables) => {
      expect(await run(query, variables)).toEqual({ status: 200, errors: [] });
    },
  };
}
