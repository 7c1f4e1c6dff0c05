import type { TestApp } from '../support/test-app.ts';
import type { Operation, Schema } from './document.ts';
import { parseExactly, type Answer } from './response-check.ts';

export interface Ask {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** The service as a client of the document uses it, with things of its own to work on. */
export interface Store {
  readonly app: TestApp;
  ask(request: Ask): Promise<Answer>;
  /** A request of the operation that succeeds, on resources that nothing else uses. */
  goodRequest(operation: Operation): Promise<Ask>;
  create(path: string, body: object): Promise<Record<string, number>>;
}

/** `headers` go with every request. */
export function openStore(app: TestApp, headers: Readonly<Record<string, string>>): Store {
  const ask: Store['ask'] = async ({ method, url, headers: own, body }) => {
    const response = await app.app.server.inject({
      method: method as 'GET',
      url,
      headers: own,
      ...(body === undefined ? {} : { payload: body }),
    });
    return {
      status: response.statusCode,
      headers: response.headers as Record<string, string | undefined>,
      text: response.payload,
    };
  };
  const create: Store['create'] = async (path, body) => {
    const answer = await ask(withBody({ method: 'POST', url: path, headers }, body));
    if (answer.status !== 201) throw new Error(`POST ${path} was answered ${answer.status}: ${answer.text}`);
    return parseExactly(answer.text) as Record<string, number>;
  };
  const createCategory = async (): Promise<number> => (await create('/categories', { name: 'Dogs' }))['id']!;
  const createPet = async (): Promise<number> =>
    (await create('/pets', { name: 'Rex', categoryId: await createCategory() }))['id']!;
  const ids: Record<string, () => Promise<number>> = {
    categoryId: createCategory,
    petId: createPet,
    orderId: async () => (await create('/store/orders', { petId: await createPet() }))['id']!,
  };
  return {
    app,
    ask,
    create,
    goodRequest: async ({ method, path, body }) => {
      const [, name] = /\{(\w+)\}/.exec(path) ?? [];
      const url = name === undefined ? path : path.replace(`{${name}}`, String(await ids[name]!()));
      const request = { method, url, headers };
      return body === undefined ? request : withBody(request, await exampleOf(body, ids));
    },
  };
}

/** The same request with another body, as JSON. */
export function withBody(request: Ask, body: object): Ask {
  return {
    ...request,
    headers: { ...request.headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  };
}

/** The body that the document's own examples make, with ids of things that are there. */
async function exampleOf(schema: Schema, ids: Record<string, () => Promise<number>>): Promise<Record<string, unknown>> {
  const fields: Record<string, unknown> = {};
  for (const [name, { readOnly, example }] of Object.entries(schema.properties ?? {})) {
    if (readOnly !== true) fields[name] = name in ids ? await ids[name]!() : example;
  }
  return fields;
}
