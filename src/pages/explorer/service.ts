import type { GraphiQL } from 'graphiql';
import type { ComponentProps } from 'react';

type Fetcher = ComponentProps<typeof GraphiQL>['fetcher'];
type FetcherParams = Parameters<Fetcher>[0];

export interface Failure {
  readonly message: string;
  readonly extensions?: { readonly code?: string } | undefined;
}

interface Answer {
  readonly data?: unknown;
  readonly errors?: readonly Failure[];
}

/** Relative, so that the service may live below a path of another. */
const endpoint = './graphql';

/**
 * Sends operations to the service that this page came from.
 *
 * `headers` go with the question for the schema, which GraphiQL asks before it has an editor to take them from; every other
 * request has exactly those that stand in the headers tab.
 */
export function createFetcher(headers: Readonly<Record<string, string>>): Fetcher {
  return async (params, options) => {
    if (params.operationName !== 'IntrospectionQuery') return ask(withoutStaleName(params), options?.headers ?? {});
    const answer = await ask(params, options?.headers ?? headers);
    // Without `data`, GraphiQL would ask a second time, in vain and at the expense of the quota.
    return { data: null, ...answer };
  };
}

/** The failure that GraphiQL has written down for us. */
export function readFailure(text: string): Failure {
  try {
    const { errors } = JSON.parse(text) as Answer;
    if (errors?.[0] !== undefined) return errors[0];
  } catch {
    // It is plain text.
  }
  return { message: text };
}

/** GraphiQL takes a moment to notice that a tab has another operation than the tab before. */
function withoutStaleName({ operationName, ...params }: FetcherParams): FetcherParams {
  return operationName && params.query.includes(operationName) ? { ...params, operationName } : params;
}

async function ask(params: FetcherParams, headers: Readonly<Record<string, unknown>>): Promise<Answer> {
  let received = '';
  try {
    const response = await fetch(endpoint, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/graphql-response+json, application/json',
        ...(headers as Record<string, string>),
      },
      body: JSON.stringify(params),
    });
    received = `HTTP ${response.status}`;
    return (await response.json()) as Answer;
  } catch (error) {
    // Nobody there, a header that can't be one, or a proxy in between that has answered in its own way.
    const reason = [received, error instanceof Error ? error.message : String(error)].filter(Boolean).join(', ');
    return { errors: [{ message: `The service has not answered: ${reason}.` }] };
  }
}
