import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Args, Ctx, FieldResolver, ID, Info, Mutation, Query, Resolver, Root } from 'type-graphql';

import type { Category } from '../../domain/categories/category.entity.ts';
import type { InventoryItem } from '../../domain/inventory/inventory-item.entity.ts';
import { orderRelations, type OrderRow } from '../../domain/orders/order.store.ts';
import type { OrderListRequest } from '../../domain/orders/order.service.ts';
import type { Pet } from '../../domain/pets/pet.entity.ts';
import type { PetListRequest } from '../../domain/pets/pet.service.ts';
import { petRelations, type PetRow } from '../../domain/pets/pet.store.ts';
import { petVersion } from '../../domain/pets/pet.version.ts';
import { isVersion } from '../../domain/version.ts';
import { CategoryType } from '../categories/category.type.ts';
import { connectionOf, requestFor, type Connection } from '../connections/connection.ts';
import { Computed, relationsOf, ToOne } from '../field-marks.ts';
import type { GraphQLContext } from '../context.ts';
import { encodeNodeId } from '../node/node-id.ts';
import { nodeIdDescription } from '../node/node.type.ts';
import { InventoryItemType } from '../inventory/inventory-item.type.ts';
import { OrderConnectionArgs } from '../orders/order.input.ts';
import { OrderConnectionType } from '../orders/order.type.ts';
import { Creates } from '../safe-writes/root-mutations.ts';
import { versionDescription } from '../version.ts';
import { CreatePetInput, DeletePetInput, PetConnectionArgs, UpdatePetInput } from './pet.input.ts';
import { CreatePetPayload, DeletePetPayload, PetConnectionType, PetType, UpdatePetPayload } from './pet.type.ts';

@Resolver(() => PetType)
export class PetResolver {
  @Query(() => PetType, { nullable: true, description: 'The pet with this id; null when there is none.' })
  pet(
    @Arg('id', () => ID, { description: 'The id of a pet.' }) id: string,
    @Ctx() { loaders }: GraphQLContext,
    @Info() info: GraphQLResolveInfo,
  ): Promise<PetRow | null> {
    return loaders.petById(relationsOf(info, petRelations)).load(id);
  }

  @Query(() => PetConnectionType, { nullable: true, description: 'The pets of the store, page by page.' })
  async pets(
    @Args(() => PetConnectionArgs) request: PetListRequest,
    @Ctx() { services }: GraphQLContext,
    @Info() info: GraphQLResolveInfo,
  ): Promise<Connection<PetRow>> {
    const page = await services.pets.list(requestFor(request, info), { include: relationsOf(info, petRelations) });
    return connectionOf(page, () => services.pets.count(request.filter));
  }

  @Computed()
  @FieldResolver(() => ID, { description: nodeIdDescription })
  nodeId(@Root() pet: Pet): string {
    return encodeNodeId('Pet', pet.id);
  }

  @Computed()
  @FieldResolver(() => String, { description: versionDescription })
  version(@Root() pet: Pet): string {
    return petVersion(pet);
  }

  @ToOne()
  @FieldResolver(() => CategoryType, { nullable: true, description: 'The category that it belongs to.' })
  category(@Root() pet: Pet, @Ctx() { loaders }: GraphQLContext): Promise<Category | null> {
    return loaders.categoryById().load(pet.categoryId);
  }

  @ToOne()
  @FieldResolver(() => InventoryItemType, { nullable: true, description: 'Its stock.' })
  inventory(@Root() pet: Pet, @Ctx() { loaders }: GraphQLContext): Promise<InventoryItem | null> {
    return loaders.inventoryItemByPetId().load(pet.id);
  }

  @FieldResolver(() => OrderConnectionType, { nullable: true, description: 'The orders for it, page by page.' })
  async orders(
    @Root() pet: Pet,
    @Args(() => OrderConnectionArgs) request: OrderListRequest,
    @Ctx() { loaders }: GraphQLContext,
    @Info() info: GraphQLResolveInfo,
  ): Promise<Connection<OrderRow> | null> {
    const page = await loaders
      .ordersByPet({ request: requestFor(request, info), include: relationsOf(info, orderRelations) })
      .load(pet.id);
    return page && connectionOf(page, () => loaders.orderCountByPet(request.filter).load(pet.id));
  }

  @Creates()
  @Mutation(() => CreatePetPayload, {
    nullable: true,
    description: 'Adds a pet to the store, with an empty inventory item.',
  })
  createPet(
    @Arg('input', () => CreatePetInput, { description: 'The new pet.' }) input: CreatePetInput,
    @Ctx() context: GraphQLContext,
    @Info() info: GraphQLResolveInfo,
  ): Promise<CreatePetPayload> {
    const include = relationsOf(info, petRelations);
    return context.mutate(async ({ pets }) => ({ pet: await pets.create(input, include) }));
  }

  @Mutation(() => UpdatePetPayload, {
    nullable: true,
    description: 'Changes a pet. NOT_FOUND when there is none with this id.',
  })
  updatePet(
    @Arg('input', () => UpdatePetInput, { description: 'Which pet, and what to change.' }) input: UpdatePetInput,
    @Ctx() context: GraphQLContext,
    @Info() info: GraphQLResolveInfo,
  ): Promise<UpdatePetPayload> {
    const include = relationsOf(info, petRelations);
    return context.mutate(async ({ pets }) => ({
      pet: await pets.update(input.id, input, {
        include,
        precondition: isVersion(input.ifVersion),
      }),
    }));
  }

  @Mutation(() => DeletePetPayload, {
    nullable: true,
    description: 'Deletes a pet with its inventory item. CONFLICT while there are orders for it.',
  })
  deletePet(
    @Arg('input', () => DeletePetInput, { description: 'Which pet.' }) { id, ifVersion }: DeletePetInput,
    @Ctx() context: GraphQLContext,
  ): Promise<DeletePetPayload> {
    return context.mutate(async ({ pets }) => {
      await pets.delete(id, isVersion(ifVersion));
      return { deletedPetId: id };
    });
  }
}
