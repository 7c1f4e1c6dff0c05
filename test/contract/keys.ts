import type { TestApp } from '../support/test-app.ts';

/** Keys as headers of a request. */
export interface Keys {
  readOnly(): Promise<Headers>;
  /** With one request per window. */
  single(): Promise<Headers>;
  banned(): Promise<Headers>;
}

type Headers = Readonly<Record<string, string>>;

const noLimit = 2 ** 31 - 1;

export function openKeys(app: TestApp): Keys {
  const create = (scope: 'read' | 'admin', requests: number): Promise<{ id: string; secret: string }> =>
    app.createKey({ plan: 'enterprise', scopes: [scope], requestsPerMinute: requests, requestsPerDay: requests });
  const headersOf = ({ secret }: { readonly secret: string }): Headers => ({ authorization: `Bearer ${secret}` });
  return {
    readOnly: async () => headersOf(await create('read', noLimit)),
    single: async () => headersOf(await create('admin', 1)),
    banned: async () => {
      const key = await create('admin', noLimit);
      await app.sql(`update api_keys set banned_until = now() + interval '1 hour' where id = $1`, [key.id]);
      return headersOf(key);
    },
  };
}
