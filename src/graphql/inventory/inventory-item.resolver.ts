import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Args, Ctx, FieldResolver, ID, Info, Mutation, Query, Resolver, Root } from 'type-graphql';

import type { InventoryItem } from '../../domain/inventory/inventory-item.entity.ts';
import { inventoryRelations, type InventoryRow } from '../../domain/inventory/inventory-item.store.ts';
import type { InventoryListRequest } from '../../domain/inventory/inventory.service.ts';
import type { Pet } from '../../domain/pets/pet.entity.ts';
import { inventoryItemVersion } from '../../domain/inventory/inventory-item.version.ts';
import { isVersion } from '../../domain/version.ts';
import { connectionOf, requestFor, type Connection } from '../connections/connection.ts';
import { Computed, relationsOf, ToOne } from '../field-marks.ts';
import type { GraphQLContext } from '../context.ts';
import { encodeNodeId } from '../node/node-id.ts';
import { nodeIdDescription } from '../node/node.type.ts';
import { PetType } from '../pets/pet.type.ts';
import { versionDescription } from '../version.ts';
import { InventoryConnectionArgs, UpdateInventoryInput } from './inventory-item.input.ts';
import { InventoryConnectionType, InventoryItemType, UpdateInventoryPayload } from './inventory-item.type.ts';

@Resolver(() => InventoryItemType)
export class InventoryItemResolver {
  @Query(() => InventoryItemType, {
    nullable: true,
    description: 'The stock of the pet with this id; null when there is no such pet.',
  })
  inventoryItem(
    @Arg('petId', () => ID, { description: 'The id of a pet.' }) petId: string,
    @Ctx() { loaders }: GraphQLContext,
    @Info() info: GraphQLResolveInfo,
  ): Promise<InventoryRow | null> {
    return loaders.inventoryItemByPetId(relationsOf(info, inventoryRelations)).load(petId);
  }

  @Query(() => InventoryConnectionType, { nullable: true, description: 'The stock of all pets, page by page.' })
  async inventory(
    @Args(() => InventoryConnectionArgs) request: InventoryListRequest,
    @Ctx() { services }: GraphQLContext,
    @Info() info: GraphQLResolveInfo,
  ): Promise<Connection<InventoryRow>> {
    const page = await services.inventory.list(requestFor(request, info), {
      include: relationsOf(info, inventoryRelations),
    });
    return connectionOf(page, () => services.inventory.count(request.filter));
  }

  @Computed()
  @FieldResolver(() => ID, { description: nodeIdDescription })
  nodeId(@Root() item: InventoryItem): string {
    return encodeNodeId('InventoryItem', item.petId);
  }

  @Computed()
  @FieldResolver(() => String, { description: versionDescription })
  version(@Root() item: InventoryItem): string {
    return inventoryItemVersion(item);
  }

  @FieldResolver(() => ID, {
    description: "The pet's id again, as the cache key of the item.",
  })
  id(@Root() item: InventoryItem): string {
    return item.petId;
  }

  @ToOne()
  @FieldResolver(() => PetType, { nullable: true, description: 'The pet whose stock this is.' })
  pet(@Root() item: InventoryItem, @Ctx() { loaders }: GraphQLContext): Promise<Pet | null> {
    return loaders.petById().load(item.petId);
  }

  @Mutation(() => UpdateInventoryPayload, {
    nullable: true,
    description: 'Sets how many are in stock. NOT_FOUND when there is no such pet.',
  })
  updateInventory(
    @Arg('input', () => UpdateInventoryInput, { description: 'Whose stock, and how many.' })
    input: UpdateInventoryInput,
    @Ctx() context: GraphQLContext,
    @Info() info: GraphQLResolveInfo,
  ): Promise<UpdateInventoryPayload> {
    const include = relationsOf(info, inventoryRelations);
    return context.mutate(async ({ inventory }) => ({
      inventoryItem: await inventory.update(input.petId, input, {
        include,
        precondition: isVersion(input.ifVersion),
      }),
    }));
  }
}
