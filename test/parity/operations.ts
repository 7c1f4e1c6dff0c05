/** The same operation over both protocols. */
interface Operation {
  readonly method: 'POST' | 'PATCH' | 'DELETE';
  /** `:id` stands for the id. */
  readonly url: string;
  /** The name of the id in the mutation's input. */
  readonly idField: 'id' | 'petId';
  readonly result: string;
}

const pet = 'pet { name status }';
const category = 'category { name description }';
const order = 'order { quantity shipDate complete }';

export const operations = {
  createPet: { method: 'POST', url: '/pets', idField: 'id', result: pet },
  updatePet: { method: 'PATCH', url: '/pets/:id', idField: 'id', result: pet },
  deletePet: { method: 'DELETE', url: '/pets/:id', idField: 'id', result: 'deletedPetId' },
  createCategory: { method: 'POST', url: '/categories', idField: 'id', result: category },
  updateCategory: { method: 'PATCH', url: '/categories/:id', idField: 'id', result: category },
  deleteCategory: { method: 'DELETE', url: '/categories/:id', idField: 'id', result: 'deletedCategoryId' },
  createOrder: { method: 'POST', url: '/store/orders', idField: 'id', result: order },
  updateOrder: { method: 'PATCH', url: '/store/orders/:id', idField: 'id', result: order },
  cancelOrder: { method: 'DELETE', url: '/store/orders/:id', idField: 'id', result: 'cancelledOrderId' },
  updateInventory: {
    method: 'PATCH',
    url: '/inventory/:id',
    idField: 'petId',
    result: 'inventoryItem { quantity status }',
  },
} as const satisfies Record<string, Operation>;

export type OperationName = keyof typeof operations;
