import { startTestApp, type TestApp } from '../support/test-app.ts';

interface KeyedResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  // oxlint-disable-next-line typescript/no-explicit-any -- what a response holds is each test's own to say
  readonly data: any;
  readonly codes: readonly string[];
  /** The root fields whose stored payload was sent. */
  readonly replayed: readonly string[];
}

/** A service with one category, for requests with an `Idempotency-Key`. */
export interface KeyedApp extends TestApp {
  /** Sends a GraphQL request under the key, by default with the API key of the suite. */
  post(payload: object, key: string, secret?: string): Promise<KeyedResponse>;
}

export async function startKeyedApp(): Promise<KeyedApp> {
  const service = await startTestApp();
  await service.sql(`insert into categories (name) values ('Dogs')`);
  const post: KeyedApp['post'] = async (payload, key, secret = service.key) => {
    const headers = { authorization: `Bearer ${secret}`, 'idempotency-key': key };
    const response = await service.app.server.inject({ method: 'POST', url: '/graphql', headers, payload });
    const { data, errors = [], extensions = {} } = response.json();
    return {
      status: response.statusCode,
      headers: response.headers,
      data,
      codes: (errors as { extensions: { code: string } }[]).map((error) => error.extensions.code),
      replayed: extensions.replayed ?? [],
    };
  };
  return { ...service, post };
}
