import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Ctx, FieldResolver, ID, Info, Mutation, Resolver, Root } from 'type-graphql';

import type { InventoryItem } from '../../domain/inventory/inventory-item.entity.ts';
import { inventoryRelations } from '../../domain/inventory/inventory-item.store.ts';
import type { Pet } from '../../domain/pets/pet.entity.ts';
import { isVersion } from '../../domain/version.ts';
import type { GraphQLContext } from '../context.ts';
import { Computed, relationsOf, ToOne } from '../field-marks.ts';
import { nodeResolver, queryResolver } from '../noun/noun.resolver.ts';
import { payloadType } from '../noun/noun.type.ts';
import { PetType } from '../pets/pet.type.ts';
import { Writes } from '../safe-writes/root-mutations.ts';
import {
  InventoryConnectionArgs,
  InventoryConnectionType,
  InventoryItemType,
  UpdateInventoryInput,
} from './inventory-item.type.ts';

const item = { noun: 'inventory', type: () => InventoryItemType, relations: inventoryRelations } as const;

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

  @ToOne()
  @FieldResolver(() => PetType, { nullable: true, description: 'The pet whose stock this is.' })
  pet(@Root() { petId }: InventoryItem, @Ctx() { loaders }: GraphQLContext): Promise<Pet | null> {
    return loaders.byId('pet').load(petId);
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
    const options = { include: relationsOf(info, inventoryRelations), precondition: isVersion(input.ifVersion) };
    return context.mutate(async ({ inventory }) => ({
      inventoryItem: await inventory.update(input.petId, input, options),
    }));
  }
}

export const inventoryResolvers = [
  queryResolver({
    ...item,
    name: 'inventoryItem',
    key: 'petId',
    connection: InventoryConnectionType,
    args: InventoryConnectionArgs,
    descriptions: {
      one: 'The stock of the pet with this id; null when there is no such pet.',
      id: 'The id of a pet.',
      list: 'The stock of all pets, page by page.',
    },
  }),
  nodeResolver(item),
  InventoryItemResolver,
];
