import type { GraphiQL } from 'graphiql';
import type { ComponentProps } from 'react';

import { headersWith, unmasked } from './api-key.ts';
import { summaryOf, type ResponseSummary } from './response-summary.ts';
import { eventStreamType, findOperation, isSubscription, readResults, type Results } from './subscription.ts';

type Fetcher = ComponentProps<typeof GraphiQL>['fetcher'];
type FetcherParams = Pick<Parameters<Fetcher>[0], 'query' | 'operationName' | 'variables'>;

export interface ShownError {
  readonly message: string;
  readonly extensions?: { readonly code?: string } | undefined;
}

type Headers = Readonly<Record<string, unknown>>;

interface JsonResponse {
  readonly data?: unknown;
  readonly errors?: readonly ShownError[];
}

export type OnSummary = (summary: ResponseSummary | undefined) => void;

export interface RequestEvents {
  /** Called when a request begins; what it returns is called when it has ended. */
  readonly onStart: () => OnSummary;
  /**
   * Asks for the key in place of a request that has none, which would be 401. False when nothing on the page can ask.
   */
  readonly askForKey: () => boolean;
}

/** Relative, so that the service may live below a path of another. */
const endpoint = './graphql';

/**
 * Sends operations to the service that this page came from, and reports how each of the user's own went. One that is
 * stopped is aborted, and its result is dropped: GraphiQL 5.4 would write it into whichever tab is open by then.
 *
 * They have the headers that stand in the headers editor, with the key where its mask is. The introspection query,
 * which GraphiQL sends before it has an editor, has only the key.
 */
export function createFetcher(key: string | undefined, { onStart, askForKey }: RequestEvents): Fetcher {
  return (params, options) => {
    if (params.operationName === 'IntrospectionQuery')
      return introspect(params, options?.headers ?? headersWith(key), key);
    const headers = options?.headers ?? {};
    return {
      subscribe({ next, complete }: Observer) {
        const stopped = new AbortController();
        const { signal } = stopped;
        // In place of the last response's, also when nothing is sent.
        const onSummary = onStart();
        if (!hasCredential(headers) && askForKey()) {
          // Not before GraphiQL has what this returns.
          queueMicrotask(complete);
        } else {
          const onResults = (results: Results): void => {
            if (!signal.aborted) next(results);
          };
          send(withoutStaleName(params), headers, key, { onSummary, signal, onResults })
            .then((response) => {
              if (signal.aborted) return;
              if (response !== undefined) next(response);
              complete();
            })
            .catch(reportError);
        }
        return { unsubscribe: () => stopped.abort() };
      },
    };
  };
}

interface Observer {
  readonly next: (response: JsonResponse | Results) => void;
  readonly complete: () => void;
}

/** The stand-in for a schema until there is a key: nothing is asked of the service, which would refuse it. */
export const keyMissing = 'KEY_MISSING';

async function introspect(params: FetcherParams, headers: Headers, key: string | undefined) {
  if (!hasCredential(headers)) {
    const message = 'Begin with your API key. The explorer sends it with each request.';
    return { data: null, errors: [{ message, extensions: { code: keyMissing } }] };
  }
  const response = await send(params, headers, key);
  // Without `data`, GraphiQL would send a second query, which costs quota and fails too.
  return { data: null, ...response };
}

function hasCredential(headers: Headers): boolean {
  return Object.keys(headers).some((name) => /^(?:authorization|x-api-key)$/i.test(name));
}

/** The failure that GraphiQL has written down for us. */
export function readFailure(text: string): ShownError {
  try {
    const { errors } = JSON.parse(text) as JsonResponse;
    if (errors?.[0] !== undefined) return errors[0];
  } catch {
    // The response is plain text.
  }
  return { message: text };
}

/** GraphiQL takes a moment to notice that a tab has another operation than the tab before. */
function withoutStaleName({ operationName, ...params }: FetcherParams): FetcherParams {
  return operationName && findOperation(params.query, operationName) ? { ...params, operationName } : params;
}

/** The codes of its errors, each once. */
function codesOf({ errors = [] }: JsonResponse): readonly string[] {
  return [...new Set(errors.flatMap(({ extensions }) => extensions?.code ?? []))];
}

interface SendOptions {
  /** Called when the operation has ended; of a subscription when its response has begun, too. */
  readonly onSummary?: OnSummary;
  readonly signal?: AbortSignal;
  /** Called with the results of a subscription as they come. Without it, a subscription is sent as a query is. */
  readonly onResults?: (results: Results) => void;
}

/**
 * Sends one operation. Never rejects: where there is no response, the errors hold the reason. Returns undefined for a
 * subscription that has ended.
 */
async function send(
  params: FetcherParams,
  headers: Headers,
  key: string | undefined,
  { onSummary, signal, onResults }: SendOptions = {},
): Promise<JsonResponse | undefined> {
  let summary: ResponseSummary | undefined;
  const isStream = onResults !== undefined && isSubscription(params.query, params.operationName);
  try {
    const begun = performance.now();
    const response = await fetch(endpoint, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: isStream ? eventStreamType : 'application/graphql-response+json, application/json',
        ...unmasked(headers, key),
      },
      body: JSON.stringify(params),
      ...(signal && { signal }),
    });
    summary = summaryOf(response, performance.now() - begun);
    if (isStream && response.headers.get('content-type')?.startsWith(eventStreamType) === true) {
      onSummary?.(summary);
      await readResults(response, onResults);
      return undefined;
    }
    const body = await response.text();
    summary = summaryOf(response, performance.now() - begun);
    const result = JSON.parse(body) as JsonResponse;
    summary = { ...summary, codes: codesOf(result) };
    return result;
  } catch (error) {
    // No connection, an invalid header, or a proxy in between that responded in its own way.
    const received = summary && `HTTP ${summary.status}`;
    const reason = [received, error instanceof Error ? error.message : String(error)].filter(Boolean).join(', ');
    return { errors: [{ message: `No response of the service: ${reason}.` }] };
  } finally {
    onSummary?.(summary);
  }
}
