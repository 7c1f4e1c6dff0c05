// Generated from src/rest/openapi/ by `npm run rest-types`: change that instead.
import type { Position } from '../../domain/cursor.ts';
import type { EventCursor } from '../../domain/events/event-id.ts';
import type { Id } from '../../domain/id.ts';

export interface components {
  schemas: {
    /** @enum {string} */
    PetStatus: 'available' | 'pending' | 'sold';
    NewPet: {
      /** Format: name */
      name: string;
      /** Format: int64 */
      categoryId: Id;
      status?: components['schemas']['PetStatus'];
    };
    Pet: components['schemas']['NewPet'] & {
      /** Format: int64 */
      readonly id: Id;
    };
    Pets: components['schemas']['Pet'][];
    /** ApiError */
    Error: {
      /** @enum {string} */
      code:
        | 'bad_request'
        | 'validation_failed'
        | 'unauthorized'
        | 'forbidden'
        | 'key_banned'
        | 'not_found'
        | 'method_not_allowed'
        | 'not_acceptable'
        | 'request_timeout'
        | 'conflict'
        | 'events_gone'
        | 'precondition_failed'
        | 'payload_too_large'
        | 'uri_too_long'
        | 'unsupported_media_type'
        | 'expectation_failed'
        | 'idempotency_key_reused'
        | 'headers_too_large'
        | 'rate_limited'
        | 'internal_error'
        | 'unavailable';
      message: string;
      status: number;
    };
    /** ApiProblem */
    Problem: components['schemas']['Error'] & {
      /** Format: uri-reference */
      type: string;
      title: string;
      detail: string;
      violations?: {
        field: string;
        message: string;
      }[];
    };
    PetChanges: {
      /** Format: name */
      name?: string;
      /** Format: int64 */
      categoryId?: Id;
      status?: components['schemas']['PetStatus'];
    };
    NewCategory: {
      /** Format: name */
      name: string;
      /** Format: text */
      description?: string;
    };
    Category: components['schemas']['NewCategory'] & {
      /** Format: int64 */
      readonly id: Id;
    };
    CategoryChanges: {
      /** Format: name */
      name?: string;
      /** Format: text */
      description?: string | null;
    };
    Order: {
      /** Format: int64 */
      readonly id?: Id;
      /** Format: int64 */
      petId?: Id;
      /** Format: int32 */
      quantity?: number;
      /** Format: date-time */
      shipDate?: string;
      complete?: boolean;
    };
    NewOrder: {
      /** Format: int64 */
      petId?: Id;
      /** Format: int32 */
      quantity?: number;
      /** Format: date-time */
      shipDate?: string;
      complete?: boolean;
    };
    OrderChanges: {
      /** Format: int64 */
      petId?: Id | null;
      /** Format: int32 */
      quantity?: number | null;
      /** Format: date-time */
      shipDate?: string | null;
      complete?: boolean;
    };
    InventoryItem: {
      /** Format: int64 */
      petId: Id;
      /** Format: int32 */
      quantity: number;
      status: components['schemas']['PetStatus'];
    };
    InventoryUpdate: {
      /** Format: int32 */
      quantity: number;
    };
    /** @enum {string} */
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
      type: components['schemas']['EventType'];
      /** Format: date-time */
      at: string;
      resource?: string;
      version?: string;
      object?:
        | components['schemas']['Pet']
        | components['schemas']['Category']
        | components['schemas']['Order']
        | components['schemas']['InventoryItem'];
    };
  };
  responses: never;
  parameters: {
    ifMatch: string;
    ifNoneMatch: string;
    idempotencyKey: string;
    petId: Id;
    limit: number;
    categoryId: Id;
    orderId: Id;
  };
  requestBodies: never;
  headers: never;
  pathItems: never;
}
export interface operations {
  listPets: {
    parameters: {
      query?: {
        limit?: number;
        cursor?: Position;
        status?: components['schemas']['PetStatus'];
        id?: Id[];
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: never;
  };
  createPet: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['NewPet'];
      };
    };
    responses: never;
  };
  getPet: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        petId: components['parameters']['petId'];
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: never;
  };
  deletePet: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        petId: components['parameters']['petId'];
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: never;
  };
  updatePet: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        petId: components['parameters']['petId'];
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['PetChanges'];
        'application/merge-patch+json': components['schemas']['PetChanges'];
      };
    };
    responses: never;
  };
  listCategories: {
    parameters: {
      query?: {
        limit?: components['parameters']['limit'];
        cursor?: Position;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: never;
  };
  createCategory: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['NewCategory'];
      };
    };
    responses: never;
  };
  getCategory: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        categoryId: components['parameters']['categoryId'];
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: never;
  };
  deleteCategory: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        categoryId: components['parameters']['categoryId'];
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: never;
  };
  updateCategory: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        categoryId: components['parameters']['categoryId'];
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['CategoryChanges'];
        'application/merge-patch+json': components['schemas']['CategoryChanges'];
      };
    };
    responses: never;
  };
  listOrders: {
    parameters: {
      query?: {
        limit?: components['parameters']['limit'];
        cursor?: Position;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: never;
  };
  createOrder: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['NewOrder'];
      };
    };
    responses: never;
  };
  getOrder: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        orderId: components['parameters']['orderId'];
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: never;
  };
  cancelOrder: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        orderId: components['parameters']['orderId'];
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: never;
  };
  updateOrder: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        orderId: components['parameters']['orderId'];
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['OrderChanges'];
        'application/merge-patch+json': components['schemas']['OrderChanges'];
      };
    };
    responses: never;
  };
  listInventory: {
    parameters: {
      query?: {
        limit?: components['parameters']['limit'];
        cursor?: Position;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: never;
  };
  getInventoryItem: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        petId: components['parameters']['petId'];
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: never;
  };
  updateInventory: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        petId: components['parameters']['petId'];
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['InventoryUpdate'];
        'application/merge-patch+json': components['schemas']['InventoryUpdate'];
      };
    };
    responses: never;
  };
  listEvents: {
    parameters: {
      query?: {
        cursor?: EventCursor;
        limit?: number;
        type?: components['schemas']['EventType'];
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: never;
  };
}
