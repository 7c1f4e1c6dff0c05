// Generated from src/rest/openapi/ by `npm run rest-types`: change that instead.
import type { Position } from '../../domain/cursor.ts';
import type { EventCursor } from '../../domain/events/event.ts';
import type { Id } from '../../domain/id.ts';

export interface components {
  schemas: {
    PetStatus: 'available' | 'pending' | 'sold';
    NewPet: {
      name: string;
      categoryId: Id;
      status?: components['schemas']['PetStatus'];
    };
    Pet: components['schemas']['NewPet'] & {
      readonly id: Id;
    };
    Pets: components['schemas']['Pet'][];
    PetChanges: {
      name?: string;
      categoryId?: Id;
      status?: components['schemas']['PetStatus'];
    };
    NewCategory: {
      name: string;
      description?: string;
    };
    Category: components['schemas']['NewCategory'] & {
      readonly id: Id;
    };
    CategoryChanges: {
      name?: string;
      description?: string | null;
    };
    Order: {
      readonly id?: Id;
      petId?: Id;
      quantity?: number;
      shipDate?: string;
      complete?: boolean;
    };
    NewOrder: {
      petId?: Id;
      quantity?: number;
      shipDate?: string;
      complete?: boolean;
    };
    OrderChanges: {
      petId?: Id | null;
      quantity?: number | null;
      shipDate?: string | null;
      complete?: boolean;
    };
    InventoryItem: {
      petId: Id;
      quantity: number;
      status: components['schemas']['PetStatus'];
    };
    InventoryUpdate: {
      quantity: number;
    };
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
  parameters: {
    ifMatch: string;
    ifNoneMatch: string;
    idempotencyKey: string;
    petId: Id;
    limit: number;
    categoryId: Id;
    orderId: Id;
  };
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
    };
  };
  createPet: {
    requestBody: {
      content: {
        'application/json': components['schemas']['NewPet'];
      };
    };
  };
  getPet: {
    parameters: {
      path: {
        petId: components['parameters']['petId'];
      };
    };
  };
  deletePet: {
    parameters: {
      path: {
        petId: components['parameters']['petId'];
      };
    };
  };
  updatePet: {
    parameters: {
      path: {
        petId: components['parameters']['petId'];
      };
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['PetChanges'];
      };
    };
  };
  listCategories: {
    parameters: {
      query?: {
        limit?: components['parameters']['limit'];
        cursor?: Position;
      };
    };
  };
  createCategory: {
    requestBody: {
      content: {
        'application/json': components['schemas']['NewCategory'];
      };
    };
  };
  getCategory: {
    parameters: {
      path: {
        categoryId: components['parameters']['categoryId'];
      };
    };
  };
  deleteCategory: {
    parameters: {
      path: {
        categoryId: components['parameters']['categoryId'];
      };
    };
  };
  updateCategory: {
    parameters: {
      path: {
        categoryId: components['parameters']['categoryId'];
      };
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['CategoryChanges'];
      };
    };
  };
  listOrders: {
    parameters: {
      query?: {
        limit?: components['parameters']['limit'];
        cursor?: Position;
      };
    };
  };
  createOrder: {
    requestBody: {
      content: {
        'application/json': components['schemas']['NewOrder'];
      };
    };
  };
  getOrder: {
    parameters: {
      path: {
        orderId: components['parameters']['orderId'];
      };
    };
  };
  cancelOrder: {
    parameters: {
      path: {
        orderId: components['parameters']['orderId'];
      };
    };
  };
  updateOrder: {
    parameters: {
      path: {
        orderId: components['parameters']['orderId'];
      };
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['OrderChanges'];
      };
    };
  };
  listInventory: {
    parameters: {
      query?: {
        limit?: components['parameters']['limit'];
        cursor?: Position;
      };
    };
  };
  getInventoryItem: {
    parameters: {
      path: {
        petId: components['parameters']['petId'];
      };
    };
  };
  updateInventory: {
    parameters: {
      path: {
        petId: components['parameters']['petId'];
      };
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['InventoryUpdate'];
      };
    };
  };
  listEvents: {
    parameters: {
      query?: {
        cursor?: EventCursor;
        limit?: number;
        type?: components['schemas']['EventType'];
      };
    };
  };
}
