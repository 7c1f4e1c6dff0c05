import type { AppOverrides } from '../../src/app.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';

interface RestResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- what a response holds is each test's own to say
  readonly body: any;
}

type Method = 'GET' | 'HEAD' | 'POST' | 'PATCH' | 'DELETE' | 'PUT' | 'OPTIONS';

/** The whole service, asked over REST without a port. */
export interface RestApp extends TestApp {
  /** Sends the body as JSON, a text or bytes as they are; with the key of the suite unless the headers have another. */
  ask(method: Method, url: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<RestResponse>;
  /** Creates a category; returns its id. */
  category(name?: string): Promise<number>;
  /** Creates a pet in a category of its own, and returns it. */
  pet(fields?: object): Promise<{ id: number; name: string; categoryId: number; status: string }>;
}

export async function startRestApp(
  environment: Readonly<Record<string, string>> = {},
  overrides: AppOverrides = {},
): Promise<RestApp> {
  const test = await startTestApp(environment, overrides);
  const prefix = environment['REST_PREFIX'] ?? '';
  const ask: RestApp['ask'] = async (method, url, body, headers = {}) => {
    const isRaw = typeof body === 'string' || Buffer.isBuffer(body);
    const response = await test.app.server.inject({
      method,
      url,
      headers: {
        authorization: `Bearer ${test.key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { payload: isRaw ? body : JSON.stringify(body) }),
    });
    const { statusCode: status, payload: text } = response;
    const isJson = text !== '' && response.headers['content-type']?.includes('json') === true;
    return {
      status,
      headers: response.headers as Record<string, string>,
      text,
      body: isJson ? JSON.parse(text) : undefined,
    };
  };
  const category = async (name = 'Dogs'): Promise<number> =>
    (await ask('POST', `${prefix}/categories`, { name })).body.id;
  return {
    ...test,
    ask,
    category,
    pet: async (fields = {}) =>
      (await ask('POST', `${prefix}/pets`, { name: 'Rex', categoryId: await category(), ...fields })).body,
  };
}
