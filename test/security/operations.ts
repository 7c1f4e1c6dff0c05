import type { InjectOptions } from 'fastify';

import type { Scope } from '../../src/domain/access/scope.ts';
import { publishedOperations } from '../contract/document.ts';

/** One thing that can be done with the service, as the security suite asks for it. */
export interface Operation {
  readonly name: string;
  readonly scope: Scope;
  readonly request: InjectOptions;
  /** How a key without the scope is refused: by the response, or by an error of the field in a response of 200. */
  readonly protocol: 'rest' | 'graphql';
}

/** Every root field, with the least that it takes. What is asked for needn't exist. */
const rootFields: readonly (readonly [scope: Scope, text: string])[] = [
  ['read', '{ pet(id: 1) { id } }'],
  ['read', '{ category(id: 1) { id } }'],
  ['read', '{ order(id: 1) { id } }'],
  ['read', '{ inventoryItem(petId: 1) { id } }'],
  ['read', '{ node(nodeId: "OWJlZjE5NzNbIlBldCIsIjEiXQ") { nodeId } }'],
  ['read', '{ nodes(nodeIds: ["OWJlZjE5NzNbIlBldCIsIjEiXQ"]) { nodeId } }'],
  ['read', '{ pets { totalCount } }'],
  ['read', '{ categories { totalCount } }'],
  ['read', '{ orders { totalCount } }'],
  ['read', '{ inventory { totalCount } }'],
  ['read', '{ events(first: 1) { nodes { id } } }'],
  ['read', '{ eventCursor }'],
  ['read', '{ rateLimit { cost } }'],
  ['read', '{ viewer { name } }'],
  ['admin', '{ apiKey(id: 404) { id } }'],
  ['admin', '{ apiKeys { totalCount } }'],
  ['write', 'mutation { createPet(input: { name: "Rex", categoryId: 404 }) { pet { id } } }'],
  ['write', 'mutation { updatePet(input: { id: 404, name: "Rex" }) { pet { id } } }'],
  ['write', 'mutation { deletePet(input: { id: 404 }) { deletedPetId } }'],
  ['write', 'mutation { createCategory(input: { name: "Cats" }) { category { id } } }'],
  ['write', 'mutation { updateCategory(input: { id: 404, name: "Dogs" }) { category { id } } }'],
  ['write', 'mutation { deleteCategory(input: { id: 404 }) { deletedCategoryId } }'],
  ['write', 'mutation { createOrder(input: {}) { order { id } } }'],
  ['write', 'mutation { updateOrder(input: { id: 404, quantity: 2 }) { order { id } } }'],
  ['write', 'mutation { cancelOrder(input: { id: 404 }) { cancelledOrderId } }'],
  ['write', 'mutation { updateInventory(input: { petId: 404, quantity: 2 }) { inventoryItem { id } } }'],
  ['admin', 'mutation { createApiKey(input: { name: "k", plan: FREE }) { secret } }'],
  ['admin', 'mutation { updateApiKey(input: { id: 404, name: "k" }) { apiKey { id } } }'],
  ['admin', 'mutation { rotateApiKey(input: { id: 404 }) { secret } }'],
  ['admin', 'mutation { revokeApiKey(input: { id: 404 }) { apiKey { id } } }'],
  ['admin', 'mutation { banApiKey(input: { id: 404, seconds: 60 }) { apiKey { id } } }'],
  ['admin', 'mutation { unbanApiKey(input: { id: 404 }) { apiKey { id } } }'],
  ['admin', 'mutation { setApiKeyPlan(input: { id: 404, plan: PRO }) { apiKey { id } } }'],
];

const graphqlOperations = rootFields.map(([scope, query]): Operation => {
  const name = /\w+(?=\(|\s*\{ \w+ \} \}$| \}$)/.exec(query)?.[0] ?? query;
  return { name, scope, protocol: 'graphql', request: { method: 'POST', url: '/graphql', payload: { query } } };
});

const restOperations = (await publishedOperations()).map(({ operationId, method, path, body }): Operation => {
  const url = path.replace(/\{\w+\}/, '404');
  const scope = method === 'GET' ? 'read' : 'write';
  return {
    name: operationId,
    scope,
    protocol: 'rest',
    request: { method, url, ...(body === undefined ? {} : { payload: {} }) },
  };
});

/** Everything that clients can ask for. */
export const operations: readonly Operation[] = [...graphqlOperations, ...restOperations];
