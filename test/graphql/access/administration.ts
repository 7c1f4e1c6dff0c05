import { startTestApp, type GraphQLResult, type TestApp } from '../../support/test-app.ts';

const adminKey = 'the-administrator-of-this-very-suite-0002';

/** The service, and its keys in the hands of an administrator. */
export interface Administration {
  readonly store: TestApp;
  /** With the `ADMIN_API_KEY`. */
  readonly administer: (query: string) => Promise<GraphQLResult>;
  /** Runs the mutation, of whose key it returns these fields. */
  readonly change: (mutation: string, input: object, fields?: string) => Promise<GraphQLResult>;
  readonly create: (input?: object) => Promise<{ id: string; secret: string }>;
  // oxlint-disable-next-line typescript/no-explicit-any -- what a key holds is each test's own to say
  readonly key: (id: string, fields: string) => Promise<any>;
  /** Sends a request of cost 1 so many times, and returns the statuses. */
  readonly use: (secret: string, times?: number) => Promise<number[]>;
}

export async function startAdministration(): Promise<Administration> {
  const store = await startTestApp({ ADMIN_API_KEY: adminKey, LOG_LEVEL: 'info', BAN_AFTER: '1' });
  const administer = (query: string, variables: object = {}): Promise<GraphQLResult> =>
    store.graphql(query, variables, adminKey);
  const change: Administration['change'] = (mutation, input, fields = 'id') => {
    const type = `${mutation.charAt(0).toUpperCase()}${mutation.slice(1)}Input`;
    const secret = ['createApiKey', 'rotateApiKey'].includes(mutation) ? 'secret' : '';
    const query = `mutation ($input: ${type}!) { result: ${mutation}(input: $input) { ${secret} apiKey { ${fields} } } }`;
    return administer(query, { input });
  };
  return {
    store,
    administer,
    change,
    create: async (input = {}) => {
      const { data } = await change('createApiKey', { name: 'Shop', plan: 'FREE', ...input });
      return { id: data.result.apiKey.id, secret: data.result.secret };
    },
    key: async (id, fields) => (await administer(`{ apiKey(id: "${id}") { ${fields} } }`)).data.apiKey,
    use: async (secret, times = 1) => {
      const statuses: number[] = [];
      for (let request = 0; request < times; request += 1) {
        statuses.push((await store.graphql('{ __typename }', {}, secret)).status);
      }
      return statuses;
    },
  };
}
