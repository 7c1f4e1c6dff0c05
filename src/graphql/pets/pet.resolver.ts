import { CategoryType } from '../categories/category.type.ts';
import { InventoryItemType } from '../inventory/inventory-item.type.ts';
import { childrenResolver, nounResolvers, relationResolvers } from '../noun/noun.resolver.ts';
import { orderList } from '../orders/order.type.ts';
import { petInputs, petList, PetType } from './pet.type.ts';

const pet = { noun: 'pet', type: () => PetType } as const;

export const petResolvers = [
  ...relationResolvers(pet, {
    category: { type: () => CategoryType, description: 'The category that it belongs to.' },
    inventory: { type: () => InventoryItemType, description: 'Its stock.' },
  }),
  childrenResolver(pet, 'order', { ...orderList, description: 'The orders for it, page by page.' }),
  ...nounResolvers({
    ...pet,
    ...petList,
    ...petInputs,
    descriptions: { create: 'Adds a pet to the store, with an empty inventory item.' },
    deletion: {
      description: 'Deletes a pet with its inventory item. CONFLICT while there are orders for it.',
      fieldDescription: 'The id of the deleted pet, whose inventory item is deleted too.',
    },
  }),
];
