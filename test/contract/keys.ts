import type { TestApp } from '../support/test-app.ts';

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

/** The key itself, as a person would enter it. */
export function keyIn(headers: Headers): string {
  return headers['authorization']?.replace('Bearer ', '') ?? 'none';
}

const boundless = 2 ** 31 - 1;

export function openKeys(app: TestApp): Keys {
  const create = (scope: 'read' | 'admin', requests: number): Promise<{ id: string; secret: string }> =>
    app.createKey({ plan: 'enterprise', scopes: [scope], requestsPerMinute: requests, requestsPerDay: requests });
  const headersOf = ({ secret }: { readonly secret: string }): Headers => ({ authorization: `Bearer ${secret}` });
  return {
    unlimited: async () => headersOf(await create('admin', boundless)),
    readOnly: async () => headersOf(await create('read', boundless)),
    single: async () => headersOf(await create('admin', 1)),
    banned: async () => {
      const key = await create('admin', boundless);
      await app.sql(`update api_keys set banned_until = now() + interval '1 hour' where id = $1`, [key.id]);
      return headersOf(key);
    },
  };
}
