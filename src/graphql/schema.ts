import 'reflect-metadata';

import {
  lexicographicSortSchema,
  printSchema,
  specifiedDirectives,
  type GraphQLObjectType,
  type GraphQLSchema,
} from 'graphql';
import { buildSchemaSync, type ClassType } from 'type-graphql';

import type { NounName } from '../domain/nouns.ts';

// The fields of Query are in this order: TypeGraphQL collects them as their modules are loaded.
import { PetResolver } from './pets/pet.resolver.ts';
import { CategoryResolver } from './categories/category.resolver.ts';
import { OrderResolver } from './orders/order.resolver.ts';
import { InventoryItemResolver } from './inventory/inventory-item.resolver.ts';
import { EventResolver } from './events/event.resolver.ts';
import { NodeQueryResolver } from './node/node-query.resolver.ts';
import { ViewerResolver } from './viewer/viewer.resolver.ts';
import { apiKeyResolvers } from './access/api-key.resolver.ts';
import { webhookResolvers } from './webhooks/webhook.resolver.ts';
import { keyRequestResolvers } from './requests/key-request.resolver.ts';
import { resolveDirectly } from './direct-resolvers.ts';
import { deprecate, deprecations } from './deprecations.ts';
import { addErrorCodes } from './error-code.ts';
import { atomicDirective } from './safe-writes/atomic-writes.ts';
import { carryOutOnce } from './safe-writes/root-mutations.ts';
import { guardRootFields } from './scopes.ts';

/** A noun without a resolver doesn't compile. */
const resolversOfNouns: Readonly<Record<NounName, ClassType>> = {
  pet: PetResolver,
  category: CategoryResolver,
  order: OrderResolver,
  inventory: InventoryItemResolver,
};

/** TypeGraphQL (2.0.0-rc.4) demands one for every subscription, even for those that have their own `subscribe`. */
const unusedPubSub = {
  publish: notUsed,
  subscribe: notUsed,
};

function notUsed(): never {
  throw new TypeError('Events are read from the log; see streams/.');
}

/** The schema of the store. The services validate input; TypeGraphQL needn't. */
export function createSchema(deprecated = deprecations): GraphQLSchema {
  const built = buildSchemaSync({
    resolvers: [
      EventResolver,
      ...Object.values(resolversOfNouns),
      NodeQueryResolver,
      ViewerResolver,
      ...apiKeyResolvers,
      ...webhookResolvers,
      ...keyRequestResolvers,
    ],
    directives: [...specifiedDirectives, atomicDirective],
    validate: false,
    pubSub: unusedPubSub,
  });
  const schema = addErrorCodes(built);
  resolveDirectly(schema);
  carryOutOnce(schema);
  guardRootFields(schema);
  deprecate(schema, deprecated);
  // TypeGraphQL has no place for the descriptions of the schema and the root types.
  schema.description = 'A pet store: pets in categories, the stock of each pet, and orders.';
  describe(schema.getQueryType(), 'The queries. Every list is a connection of the Relay specification.');
  describe(
    schema.getMutationType(),
    'The mutations. The fields run one after another; one that fails does not affect the others, unless the operation is `@atomic`. With the header `Idempotency-Key` each is carried out once within 24 hours, however often it is sent; `ifVersion` in an input protects what others have changed meanwhile.',
  );
  describe(
    schema.getSubscriptionType(),
    'The subscriptions: an operation has one root field, and every event is one result.',
  );
  return schema;
}

/** The text of `schema.graphql`, sorted independently of the code. */
export function printSortedSchema(schema: GraphQLSchema): string {
  return `${printSchema(lexicographicSortSchema(schema))}\n`;
}

function describe(type: GraphQLObjectType | null | undefined, description: string): void {
  if (type) type.description = description;
}
