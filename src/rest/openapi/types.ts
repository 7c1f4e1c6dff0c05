// Generated from src/rest/openapi/ by `npm run rest-types`: change that instead.
import type { ListPosition } from '../../domain/cursor.ts';
import type { EventCursor } from '../../domain/events/event.ts';
import type { Id } from '../../domain/id.ts';

export interface Schemas {
  PetStatus: 'available' | 'pending' | 'sold';
  NewPet: { name: string; categoryId: Id; status?: Schemas['PetStatus'] };
  Pet: Schemas['NewPet'] & { id: Id };
  Pets: Schemas['Pet'][];
  PetChanges: { name?: string; categoryId?: Id; status?: Schemas['PetStatus'] };
  NewCategory: { name: string; description?: string };
  Category: Schemas['NewCategory'] & { id: Id };
  CategoryChanges: { name?: string; description?: string | null };
  Order: { id?: Id; petId?: Id; quantity?: number; shipDate?: string; complete?: boolean };
  NewOrder: { petId?: Id; quantity?: number; shipDate?: string; complete?: boolean };
  OrderChanges: { petId?: Id | null; quantity?: number | null; shipDate?: string | null; complete?: boolean };
  InventoryItem: { petId: Id; quantity: number; status: Schemas['PetStatus'] };
  InventoryUpdate: { quantity: number };
  EventType:
    | 'pet.created'
    | 'pet.updated'
    | 'pet.deleted'
    | 'category.created'
    | 'category.updated'
    | 'category.deleted'
    | 'order.created'
    | 'order.updated'
    | 'order.cancelled'
    | 'inventory.created'
    | 'inventory.updated'
    | 'inventory.deleted'
    | 'store.resync';
  Event: {
    id: string;
    type: Schemas['EventType'];
    at: string;
    resource?: string;
    version?: string;
    object?: Schemas['Pet'] | Schemas['Category'] | Schemas['Order'] | Schemas['InventoryItem'];
  };
}

/** The parameters and the body of each operation's request. */
export interface Operations {
  listPets: {
    path: object;
    query: { limit?: number; cursor?: ListPosition; status?: Schemas['PetStatus']; id?: Id[] };
    body: undefined;
  };
  createPet: { path: object; query: object; body: Schemas['NewPet'] };
  getPet: { path: { petId: string }; query: object; body: undefined };
  updatePet: { path: { petId: string }; query: object; body: Schemas['PetChanges'] };
  deletePet: { path: { petId: string }; query: object; body: undefined };
  listCategories: { path: object; query: { limit?: number; cursor?: ListPosition }; body: undefined };
  createCategory: { path: object; query: object; body: Schemas['NewCategory'] };
  getCategory: { path: { categoryId: string }; query: object; body: undefined };
  updateCategory: { path: { categoryId: string }; query: object; body: Schemas['CategoryChanges'] };
  deleteCategory: { path: { categoryId: string }; query: object; body: undefined };
  listOrders: { path: object; query: { limit?: number; cursor?: ListPosition }; body: undefined };
  createOrder: { path: object; query: object; body: Schemas['NewOrder'] };
  getOrder: { path: { orderId: string }; query: object; body: undefined };
  updateOrder: { path: { orderId: string }; query: object; body: Schemas['OrderChanges'] };
  cancelOrder: { path: { orderId: string }; query: object; body: undefined };
  listInventory: { path: object; query: { limit?: number; cursor?: ListPosition }; body: undefined };
  getInventoryItem: { path: { petId: string }; query: object; body: undefined };
  updateInventory: { path: { petId: string }; query: object; body: Schemas['InventoryUpdate'] };
  listEvents: {
    path: object;
    query: { cursor?: EventCursor; limit?: number; type?: Schemas['EventType'] };
    body: undefined;
  };
}
