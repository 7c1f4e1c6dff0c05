import { Arg, Args, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';

import type { InventoryItem } from '../../domain/inventory/inventory-item.entity.ts';
import type { InventoryListRequest } from '../../domain/inventory/inventory.service.ts';
import type { Pet } from '../../domain/pets/pet.entity.ts';
import { connectionOf, type Connection } from '../connections/connection.ts';
import type { GraphQLContext } from '../context.ts';
import { encodeNodeId } from '../node/node-id.ts';
import { nodeIdDescription } from '../node/node.type.ts';
import { PetType } from '../pets/pet.type.ts';
import { InventoryConnectionArgs, UpdateInventoryInput } from './inventory-item.input.ts';
import { UpdateInventoryPayload } from './inventory-item.payload.ts';
import { InventoryConnectionType, InventoryItemType } from './inventory-item.type.ts';

@Resolver(() => InventoryItemType)
export class InventoryItemResolver {
  @Query(() => InventoryItemType, {
    nullable: true,
    description: 'The stock of the pet with this id; null when there is no such pet.',
  })
  inventoryItem(
    @Arg('petId', () => ID, { description: 'The id of a pet.' }) petId: string,
    @Ctx() { loaders }: GraphQLContext,
  ): Promise<InventoryItem | null> {
    return loaders.inventoryItemByPetId.load(petId);
  }

  @Query(() => InventoryConnectionType, { nullable: true, description: 'The stock of all pets, page by page.' })
  async inventory(
    @Args(() => InventoryConnectionArgs) request: InventoryListRequest,
    @Ctx() { services }: GraphQLContext,
  ): Promise<Connection<InventoryItem>> {
    return connectionOf(await services.inventory.list(request), () => services.inventory.count(request.filter));
  }

  @FieldResolver(() => ID, { description: nodeIdDescription })
  nodeId(@Root() item: InventoryItem): string {
    return encodeNodeId('InventoryItem', item.petId);
  }

  @FieldResolver(() => ID, {
    description: "The pet's id once more, so that client caches can tell the items apart.",
  })
  id(@Root() item: InventoryItem): string {
    return item.petId;
  }

  @FieldResolver(() => PetType, { nullable: true, description: 'The pet whose stock this is.' })
  pet(@Root() item: InventoryItem, @Ctx() { loaders }: GraphQLContext): Promise<Pet | null> {
    return loaders.petById.load(item.petId);
  }

  @Mutation(() => UpdateInventoryPayload, {
    nullable: true,
    description: 'Sets how many are in stock. NOT_FOUND when there is no such pet.',
  })
  updateInventory(
    @Arg('input', () => UpdateInventoryInput, { description: 'Whose stock, and how many.' })
    input: UpdateInventoryInput,
    @Ctx() context: GraphQLContext,
  ): Promise<UpdateInventoryPayload> {
    return context.mutate(async ({ inventory }) => ({
      inventoryItem: await inventory.update(input.petId, input),
    }));
  }
}
