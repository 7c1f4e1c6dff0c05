import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Ctx, FieldResolver, ID, Info, Mutation, Resolver, Root } from 'type-graphql';

import type { InventoryItem } from '../../domain/inventory/inventory-item.entity.ts';
import type { InventoryRelation } from '../../domain/inventory/inventory-item.store.ts';
import { isVersion } from '../../domain/version.ts';
import type { GraphQLContext } from '../context.ts';
import { Computed } from '../field-extensions.ts';
import { nodeResolver, queryResolver, relationResolvers, relationsOf } from '../noun/noun.resolver.ts';
import { payloadType } from '../noun/noun.type.ts';
import { PetType } from '../pets/pet.type.ts';
import { Writes } from '../safe-writes/root-mutations.ts';
import { inventoryList, InventoryItemType, UpdateInventoryInput } from './inventory-item.type.ts';

const item = { noun: 'inventory', type: () => InventoryItemType } as const;

const UpdateInventoryPayload = payloadType('updateInventory', 'inventoryItem', item.type, 'The item as it is now.');

/** Items are created and deleted with their pets; only the quantity can be changed. */
@Resolver(() => InventoryItemType)
class InventoryItemResolver {
  @Computed()
  @FieldResolver(() => ID, {
    description: "The pet's id again, as the cache key of the item.",
  })
  id(@Root() { petId }: InventoryItem): string {
    return petId;
  }

  @Writes('inventory', 'change')
  @Mutation(() => UpdateInventoryPayload, {
    nullable: true,
    description: 'Sets how many are in stock. NOT_FOUND when there is no such pet.',
  })
  updateInventory(
    @Arg('input', () => UpdateInventoryInput, { description: 'Whose stock, and how many.' })
    input: UpdateInventoryInput,
    @Ctx() context: GraphQLContext,
    @Info() info: GraphQLResolveInfo,
  ): Promise<object> {
    const options = { include: relationsOf<InventoryRelation>(info), precondition: isVersion(input.ifVersion) };
    return context.mutate(async ({ inventory }) => ({
      inventoryItem: await inventory.update(input.petId, input, options),
    }));
  }
}

export const inventoryResolvers = [
  ...relationResolvers(item, { pet: { type: () => PetType, description: 'The pet whose stock this is.' } }),
  queryResolver({
    ...item,
    name: 'inventoryItem',
    key: 'petId',
    ...inventoryList,
    descriptions: {
      one: 'The stock of the pet with this id; null when there is no such pet.',
      id: 'The id of a pet.',
      list: 'The stock of all pets, page by page.',
    },
  }),
  nodeResolver(item),
  InventoryItemResolver,
];
