import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Args, Ctx, FieldResolver, ID, Info, Mutation, Query, Resolver, Root } from 'type-graphql';

import type { Category } from '../../domain/categories/category.entity.ts';
import type { InventoryItem } from '../../domain/inventory/inventory-item.entity.ts';
import { change, refer, remove } from '../../domain/named-rows.ts';
import type { Order } from '../../domain/orders/order.entity.ts';
import type { Pet } from '../../domain/pets/pet.entity.ts';
import type { PetRelation } from '../../domain/pets/pet.store.ts';
import { CategoryType } from '../categories/category.type.ts';
import { childConnection, PageConnection, requestFor } from '../connections/connection.ts';
import type { GraphQLContext } from '../context.ts';
import { ToOne } from '../field-extensions.ts';
import { InventoryItemType } from '../inventory/inventory-item.type.ts';
import { NodeResolver } from '../node/node.resolver.ts';
import { OrderConnectionArgs } from '../orders/order.input.ts';
import { OrderConnectionType } from '../orders/order.type.ts';
import { relationsOf } from '../relations.ts';
import { updateOptions } from '../safe-writes/conditional.input.ts';
import { Creates, Writes } from '../safe-writes/root-mutations.ts';
import { NeedsScope } from '../scopes.ts';
import { CreatePetInput, DeletePetInput, PetConnectionArgs, UpdatePetInput } from './pet.input.ts';
import { CreatePetPayload, DeletePetPayload, PetConnectionType, PetType, UpdatePetPayload } from './pet.type.ts';

@Resolver(() => PetType)
export class PetResolver extends NodeResolver('pet', () => PetType) {
  @NeedsScope('read')
  @Query(() => PetType, { nullable: true, description: 'The pet with this id; null when there is none.' })
  pet(
    @Arg('id', () => ID, { description: 'The id of a pet.' }) id: string,
    @Ctx() { loaders }: GraphQLContext,
    @Info() info: GraphQLResolveInfo,
  ): Promise<Pet | null> {
    return loaders.byId('pet', relationsOf(info)).load(id);
  }

  @NeedsScope('read')
  @Query(() => PetConnectionType, { nullable: true, description: 'The pets of the store, page by page.' })
  async pets(
    @Args(() => PetConnectionArgs) args: PetConnectionArgs,
    @Ctx() { services: { pets } }: GraphQLContext,
    @Info() info: GraphQLResolveInfo,
  ): Promise<PageConnection<Pet>> {
    const include = relationsOf<PetRelation>(info);
    const page = await pets.list(requestFor(args, info), { include });
    return new PageConnection(page, () => pets.count(args.filter), include);
  }

  @ToOne()
  @FieldResolver(() => CategoryType, { nullable: true, description: 'The category that it belongs to.' })
  category(@Root() { categoryId }: Pet, @Ctx() { loaders }: GraphQLContext): Promise<Category | null> {
    return loaders.byId('category').load(categoryId);
  }

  @ToOne()
  @FieldResolver(() => InventoryItemType, { nullable: true, description: 'Its stock.' })
  inventory(@Root() { id }: Pet, @Ctx() { loaders }: GraphQLContext): Promise<InventoryItem | null> {
    return loaders.byId('inventory').load(id);
  }

  @FieldResolver(() => OrderConnectionType, { nullable: true, description: 'The orders for it, page by page.' })
  orders(
    @Root() pet: Pet,
    @Args(() => OrderConnectionArgs) args: OrderConnectionArgs,
    @Ctx() { loaders }: GraphQLContext,
    @Info() info: GraphQLResolveInfo,
  ): Promise<PageConnection<Order> | null> {
    return childConnection(loaders.childrenOf('order', 'petId'), pet, args, info);
  }

  @Creates(({ categoryId }: CreatePetInput) => [refer('category', categoryId)])
  @NeedsScope('write')
  @Mutation(() => CreatePetPayload, {
    nullable: true,
    description: 'Adds a pet to the store, with an empty inventory item.',
  })
  createPet(
    @Arg('input', () => CreatePetInput, { description: 'The new pet.' }) input: CreatePetInput,
    @Ctx() context: GraphQLContext,
    @Info() info: GraphQLResolveInfo,
  ): Promise<CreatePetPayload> {
    return context.mutate(async ({ pets }) => ({ pet: await pets.create(input, relationsOf(info)) }));
  }

  @Writes(({ id, categoryId }: UpdatePetInput) => [change('pet', id), refer('category', categoryId)])
  @NeedsScope('write')
  @Mutation(() => UpdatePetPayload, {
    nullable: true,
    description: 'Changes a pet. NOT_FOUND when there is none with this id.',
  })
  updatePet(
    @Arg('input', () => UpdatePetInput, { description: 'Which pet, and what to change.' }) input: UpdatePetInput,
    @Ctx() context: GraphQLContext,
    @Info() info: GraphQLResolveInfo,
  ): Promise<UpdatePetPayload> {
    const options = updateOptions<PetRelation>(input, info);
    return context.mutate(async ({ pets }) => ({ pet: await pets.update(input.id, input, options) }));
  }

  @Writes(({ id }: DeletePetInput) => [remove('pet', id), remove('inventory', id)])
  @NeedsScope('write')
  @Mutation(() => DeletePetPayload, {
    nullable: true,
    description: 'Deletes a pet with its inventory item. CONFLICT while there are orders for it.',
  })
  deletePet(
    @Arg('input', () => DeletePetInput, { description: 'Which pet.' }) { id, ifVersion }: DeletePetInput,
    @Ctx() context: GraphQLContext,
  ): Promise<DeletePetPayload> {
    return context.mutate(async ({ pets }) => {
      await pets.delete(id, ifVersion);
      return { deletedPetId: id };
    });
  }
}
