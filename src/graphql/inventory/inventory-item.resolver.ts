import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Args, Ctx, FieldResolver, ID, Info, Mutation, Query, Resolver, Root } from 'type-graphql';

import type { InventoryItem } from '../../domain/inventory/inventory-item.entity.ts';
import type { InventoryRelation } from '../../domain/inventory/inventory-item.store.ts';
import { change, refer } from '../../domain/named-rows.ts';
import type { Pet } from '../../domain/pets/pet.entity.ts';
import { PageConnection, requestFor } from '../connections/connection.ts';
import type { GraphQLContext } from '../context.ts';
import { ToOne } from '../field-extensions.ts';
import { NodeResolver } from '../node/node.resolver.ts';
import { PetType } from '../pets/pet.type.ts';
import { relationsOf } from '../relations.ts';
import { updateOptions } from '../safe-writes/conditional.input.ts';
import { Writes } from '../safe-writes/root-mutations.ts';
import { NeedsScope } from '../scopes.ts';
import { InventoryConnectionArgs, UpdateInventoryInput } from './inventory-item.input.ts';
import { InventoryConnectionType, InventoryItemType, UpdateInventoryPayload } from './inventory-item.type.ts';

/** Items are created and deleted with their pets; only the quantity can be changed. */
@Resolver(() => InventoryItemType)
export class InventoryItemResolver extends NodeResolver('inventory', () => InventoryItemType) {
  @NeedsScope('read')
  @Query(() => InventoryItemType, {
    nullable: true,
    description: 'The stock of the pet with this id; null when there is no such pet.',
  })
  inventoryItem(
    @Arg('petId', () => ID, { description: 'The id of a pet.' }) petId: string,
    @Ctx() { loaders }: GraphQLContext,
    @Info() info: GraphQLResolveInfo,
  ): Promise<InventoryItem | null> {
    return loaders.byId('inventory', relationsOf(info)).load(petId);
  }

  @NeedsScope('read')
  @Query(() => InventoryConnectionType, { nullable: true, description: 'The stock of all pets, page by page.' })
  async inventory(
    @Args(() => InventoryConnectionArgs) args: InventoryConnectionArgs,
    @Ctx() { services: { inventory } }: GraphQLContext,
    @Info() info: GraphQLResolveInfo,
  ): Promise<PageConnection<InventoryItem>> {
    const include = relationsOf<InventoryRelation>(info);
    const page = await inventory.list(requestFor(args, info), { include });
    return new PageConnection(page, () => inventory.count(args.filter), include);
  }

  @FieldResolver(() => ID, { description: "The pet's id again, as the cache key of the item." })
  id(@Root() { petId }: InventoryItem): string {
    return petId;
  }

  @ToOne()
  @FieldResolver(() => PetType, { nullable: true, description: 'The pet whose stock this is.' })
  pet(@Root() { petId }: InventoryItem, @Ctx() { loaders }: GraphQLContext): Promise<Pet | null> {
    return loaders.byId('pet').load(petId);
  }

  @Writes(({ petId, ifVersion }: UpdateInventoryInput) => [
    // The version covers the status of the pet.
    typeof ifVersion === 'string' ? change('pet', petId) : refer('pet', petId),
    change('inventory', petId),
  ])
  @NeedsScope('write')
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
    const options = updateOptions<InventoryRelation>(input, info);
    return context.mutate(async ({ inventory }) => ({
      inventoryItem: await inventory.update(input.petId, input, options),
    }));
  }
}
