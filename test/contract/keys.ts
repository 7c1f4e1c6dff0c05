import type { TestApp } from '../support/test-app.ts';

/**
 * What the document promises and the service doesn't do before it asks for keys and counts requests. A test fails as soon as it
 * does: then both lists must be empty, and everything is asked and checked.
 */
export const pending: { readonly statuses: readonly string[]; readonly headers: readonly string[] } = {
  statuses: ['401', '403', '429'],
  headers: ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset', 'RateLimit-Policy', 'RateLimit'],
};

/** The keys that the causes need, as headers of a request. */
export interface Keys {
  /** May do anything, as often as it likes. */
  unlimited(): Promise<Headers>;
  readOnly(): Promise<Headers>;
  /** Its window has room for one request. */
  single(): Promise<Headers>;
  banned(): Promise<Headers>;
}

type Headers = Readonly<Record<string, string>>;

interface KeyInput {
  readonly plan: 'enterprise';
  readonly scopes: readonly ('read' | 'write' | 'admin')[];
  readonly requestsPerMinute: number;
  readonly requestsPerDay: number;
}

interface KeyMaker {
  createKey(input: KeyInput): Promise<{ readonly id: string; readonly secret: string }>;
}

/** The key itself, as a person would enter it. */
export function keyIn(headers: Headers): string {
  return headers['authorization']?.replace('Bearer ', '') ?? 'none';
}

const boundless = 2 ** 31 - 1;

export function openKeys(app: TestApp): Keys {
  const create = async (scope: 'read' | 'admin', requests: number) => {
    const limits = { requestsPerMinute: requests, requestsPerDay: requests };
    const maker = app as Partial<KeyMaker>;
    return maker.createKey?.({ plan: 'enterprise', scopes: [scope], ...limits });
  };
  const headersOf = (key: { readonly secret: string } | undefined): Headers =>
    key === undefined ? {} : { authorization: `Bearer ${key.secret}` };
  return {
    unlimited: async () => headersOf(await create('admin', boundless)),
    readOnly: async () => headersOf(await create('read', boundless)),
    single: async () => headersOf(await create('admin', 1)),
    banned: async () => {
      const key = await create('admin', boundless);
      await app.sql(`update api_keys set banned_until = now() + interval '1 hour' where id = $1`, [key?.id]);
      return headersOf(key);
    },
  };
}
