// Generated from openapi.yaml by `npm run rest-types`: change that instead.
import type { Position } from '../domain/cursor.ts';
import type { Id } from '../domain/id.ts';

export interface components {
  schemas: {
    /**
     * @description How far the sale of a pet is. Any status may follow any other.
     * @example available
     * @enum {string}
     */
    PetStatus: 'available' | 'pending' | 'sold';
    /** @description A pet to be added to the store. */
    NewPet: {
      /**
       * Format: name
       * @description What the animal is called: white space at both ends is cut off, then 1 to 255 characters (Unicode code points) without control characters.
       * @example Rex
       */
      name: string;
      /**
       * Format: int64
       * @description The category that it belongs to; it must exist.
       * @example 1
       */
      categoryId: Id;
      status?: components['schemas']['PetStatus'];
    };
    /** @description An animal of the store. */
    Pet: components['schemas']['NewPet'] & {
      /**
       * Format: int64
       * @description Assigned on creation.
       * @example 42
       */
      readonly id: Id;
    };
    /** @description Pets in the order of their ids. */
    Pets: components['schemas']['Pet'][];
    /** @description Changes of a pet. What is left out stays; at least one field is needed. */
    PetChanges: {
      /**
       * Format: name
       * @description A new name, by the rules of a new pet's.
       * @example Rex the second
       */
      name?: string;
      /**
       * Format: int64
       * @description The category that it belongs to from now on; it must exist.
       * @example 2
       */
      categoryId?: Id;
      status?: components['schemas']['PetStatus'];
    };
    /** @description A category to be added. */
    NewCategory: {
      /**
       * Format: name
       * @description What the kind of animal is called: white space at both ends is cut off, then 1 to 255 characters (Unicode code points) without control characters.
       * @example Dogs
       */
      name: string;
      /**
       * Format: text
       * @description A few words about it; of the control characters only tab, line feed and carriage return.
       * @example Loyal, and loud when the post comes.
       */
      description?: string;
    };
    /** @description A kind of animal. */
    Category: components['schemas']['NewCategory'] & {
      /**
       * Format: int64
       * @description Assigned on creation.
       * @example 1
       */
      readonly id: Id;
    };
    /** @description Changes of a category. What is left out stays; at least one field is needed. */
    CategoryChanges: {
      /**
       * Format: name
       * @description A new name, by the rules of a new category's.
       * @example Good dogs
       */
      name?: string;
      /**
       * Format: text
       * @description A new description; null takes it away.
       * @example All of them.
       */
      description?: string | null;
    };
    /** @description An order to be placed. Nothing of it is required. */
    NewOrder: {
      /**
       * Format: int64
       * @description The animal that is ordered; it must exist.
       * @example 42
       */
      petId?: Id;
      /**
       * Format: int32
       * @description How many units are ordered.
       * @example 1
       */
      quantity?: number;
      /**
       * Format: date-time
       * @description When it ships or has shipped: an RFC 3339 date-time with an offset, in the years 0001 to 9999. Kept and answered in UTC with milliseconds.
       * @example 2026-12-24T10:00:00.000Z
       */
      shipDate?: string;
      /**
       * @description Whether it has been fulfilled; false when it is left out. Once true it stays true.
       * @example false
       */
      complete?: boolean;
    };
    /** @description An order for an animal. What has no value is left out. */
    Order: {
      /**
       * Format: int64
       * @description Assigned on creation.
       * @example 7
       */
      readonly id?: Id;
      /**
       * Format: int64
       * @description The animal that is ordered; it must exist.
       * @example 42
       */
      petId?: Id;
      /**
       * Format: int32
       * @description How many units are ordered.
       * @example 1
       */
      quantity?: number;
      /**
       * Format: date-time
       * @description When it ships or has shipped: an RFC 3339 date-time with an offset, in the years 0001 to 9999. Kept and answered in UTC with milliseconds.
       * @example 2026-12-24T10:00:00.000Z
       */
      shipDate?: string;
      /**
       * @description Whether it has been fulfilled.
       * @example false
       */
      complete?: boolean;
    };
    /** @description Changes of an order. What is left out stays; at least one field is needed. */
    OrderChanges: {
      /**
       * Format: int64
       * @description The animal that is ordered, which must exist; null takes it away.
       * @example 42
       */
      petId?: Id | null;
      /**
       * Format: int32
       * @description How many units are ordered; null takes the number away.
       * @example 1
       */
      quantity?: number | null;
      /**
       * Format: date-time
       * @description When it ships or has shipped, as in a new order; null takes the date away.
       * @example 2026-12-24T10:00:00.000Z
       */
      shipDate?: string | null;
      /**
       * @description Whether it has been fulfilled. Once true it stays true.
       * @example true
       */
      complete?: boolean;
    };
    /** @description The stock of one animal. Its status is the animal's. */
    InventoryItem: {
      /**
       * Format: int64
       * @description The animal that the entry is about.
       * @example 42
       */
      petId: Id;
      /**
       * Format: int32
       * @description How many units are in stock.
       * @example 3
       */
      quantity: number;
      status: components['schemas']['PetStatus'];
    };
    /** @description The new stock of an animal. */
    InventoryUpdate: {
      /**
       * Format: int32
       * @description How many units are in stock.
       * @example 3
       */
      quantity: number;
    };
    /** @description Every failure, whatever its status. */
    Error: {
      /**
       * @description What went wrong, for programs.
       * @example validation_failed
       */
      code: string;
      /**
       * @description What was wrong, with which value, and what would be right, for people.
       * @example name: is missing.
       */
      message: string;
      /**
       * @description The HTTP status, once more.
       * @example 400
       */
      status: number;
    };
  };
  responses: never;
  parameters: {
    /**
     * @description The id of a pet.
     * @example 42
     */
    petId: Id;
    /**
     * @description The id of a category.
     * @example 1
     */
    categoryId: Id;
    /**
     * @description The id of an order.
     * @example 7
     */
    orderId: Id;
    /**
     * @description How many are answered at most, as a page. The whole collection comes when it is left out.
     * @example 50
     */
    limit: number;
    /**
     * @description The `ETag` that the resource must still have, several of them, or `*` for any.
     * @example "HCQjcB4bqMnFVFVzCs9v2w"
     */
    ifMatch: string;
    /**
     * @description The `ETag`s that the client knows; 304 when the resource still has one of them.
     * @example "HCQjcB4bqMnFVFVzCs9v2w"
     */
    ifNoneMatch: string;
    /**
     * @description A text that you make up for this one creation, such as a UUID. Sent again with the same request it answers the first success instead of creating twice.
     * @example 6f1b1d3e-4f7a-4f0e-9f65-0b6f6a3a8f10
     */
    idempotencyKey: string;
  };
  requestBodies: never;
  headers: never;
  pathItems: never;
}
export interface operations {
  listPets: {
    parameters: {
      query?: {
        /**
         * @description How many are answered at most. When it is left out, 20; with `id`, all of them.
         * @example 20
         */
        limit?: number;
        /** @description The place after which the page begins, from a `Link` of this list. */
        cursor?: Position;
        /** @description Only pets with this status. */
        status?: components['schemas']['PetStatus'];
        /**
         * @description Only the pets with these ids, separated by commas; `id=1&id=2` means the same. Repeated ones count once. When all fit on the page, the response has an `ETag`; that of a single pet is the pet's own.
         * @example [
         *       1,
         *       2,
         *       3
         *     ]
         */
        id?: Id[];
      };
      header?: {
        /**
         * @description The `ETag`s that the client knows; 304 when the resource still has one of them.
         * @example "HCQjcB4bqMnFVFVzCs9v2w"
         */
        'If-None-Match'?: components['parameters']['ifNoneMatch'];
      };
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: never;
  };
  createPet: {
    parameters: {
      query?: never;
      header?: {
        /**
         * @description A text that you make up for this one creation, such as a UUID. Sent again with the same request it answers the first success instead of creating twice.
         * @example 6f1b1d3e-4f7a-4f0e-9f65-0b6f6a3a8f10
         */
        'Idempotency-Key'?: components['parameters']['idempotencyKey'];
      };
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
      header?: {
        /**
         * @description The `ETag`s that the client knows; 304 when the resource still has one of them.
         * @example "HCQjcB4bqMnFVFVzCs9v2w"
         */
        'If-None-Match'?: components['parameters']['ifNoneMatch'];
      };
      path: {
        /**
         * @description The id of a pet.
         * @example 42
         */
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
      header?: {
        /**
         * @description The `ETag` that the resource must still have, several of them, or `*` for any.
         * @example "HCQjcB4bqMnFVFVzCs9v2w"
         */
        'If-Match'?: components['parameters']['ifMatch'];
      };
      path: {
        /**
         * @description The id of a pet.
         * @example 42
         */
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
      header?: {
        /**
         * @description The `ETag` that the resource must still have, several of them, or `*` for any.
         * @example "HCQjcB4bqMnFVFVzCs9v2w"
         */
        'If-Match'?: components['parameters']['ifMatch'];
      };
      path: {
        /**
         * @description The id of a pet.
         * @example 42
         */
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
        /**
         * @description How many are answered at most, as a page. The whole collection comes when it is left out.
         * @example 50
         */
        limit?: components['parameters']['limit'];
        /** @description The place after which the page begins, from a `Link` of this list. */
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
      header?: {
        /**
         * @description A text that you make up for this one creation, such as a UUID. Sent again with the same request it answers the first success instead of creating twice.
         * @example 6f1b1d3e-4f7a-4f0e-9f65-0b6f6a3a8f10
         */
        'Idempotency-Key'?: components['parameters']['idempotencyKey'];
      };
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
      header?: {
        /**
         * @description The `ETag`s that the client knows; 304 when the resource still has one of them.
         * @example "HCQjcB4bqMnFVFVzCs9v2w"
         */
        'If-None-Match'?: components['parameters']['ifNoneMatch'];
      };
      path: {
        /**
         * @description The id of a category.
         * @example 1
         */
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
      header?: {
        /**
         * @description The `ETag` that the resource must still have, several of them, or `*` for any.
         * @example "HCQjcB4bqMnFVFVzCs9v2w"
         */
        'If-Match'?: components['parameters']['ifMatch'];
      };
      path: {
        /**
         * @description The id of a category.
         * @example 1
         */
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
      header?: {
        /**
         * @description The `ETag` that the resource must still have, several of them, or `*` for any.
         * @example "HCQjcB4bqMnFVFVzCs9v2w"
         */
        'If-Match'?: components['parameters']['ifMatch'];
      };
      path: {
        /**
         * @description The id of a category.
         * @example 1
         */
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
        /**
         * @description How many are answered at most, as a page. The whole collection comes when it is left out.
         * @example 50
         */
        limit?: components['parameters']['limit'];
        /** @description The place after which the page begins, from a `Link` of this list. */
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
      header?: {
        /**
         * @description A text that you make up for this one creation, such as a UUID. Sent again with the same request it answers the first success instead of creating twice.
         * @example 6f1b1d3e-4f7a-4f0e-9f65-0b6f6a3a8f10
         */
        'Idempotency-Key'?: components['parameters']['idempotencyKey'];
      };
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
      header?: {
        /**
         * @description The `ETag`s that the client knows; 304 when the resource still has one of them.
         * @example "HCQjcB4bqMnFVFVzCs9v2w"
         */
        'If-None-Match'?: components['parameters']['ifNoneMatch'];
      };
      path: {
        /**
         * @description The id of an order.
         * @example 7
         */
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
      header?: {
        /**
         * @description The `ETag` that the resource must still have, several of them, or `*` for any.
         * @example "HCQjcB4bqMnFVFVzCs9v2w"
         */
        'If-Match'?: components['parameters']['ifMatch'];
      };
      path: {
        /**
         * @description The id of an order.
         * @example 7
         */
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
      header?: {
        /**
         * @description The `ETag` that the resource must still have, several of them, or `*` for any.
         * @example "HCQjcB4bqMnFVFVzCs9v2w"
         */
        'If-Match'?: components['parameters']['ifMatch'];
      };
      path: {
        /**
         * @description The id of an order.
         * @example 7
         */
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
        /**
         * @description How many are answered at most, as a page. The whole collection comes when it is left out.
         * @example 50
         */
        limit?: components['parameters']['limit'];
        /** @description The place after which the page begins, from a `Link` of this list. */
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
      header?: {
        /**
         * @description The `ETag`s that the client knows; 304 when the resource still has one of them.
         * @example "HCQjcB4bqMnFVFVzCs9v2w"
         */
        'If-None-Match'?: components['parameters']['ifNoneMatch'];
      };
      path: {
        /**
         * @description The id of a pet.
         * @example 42
         */
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
      header?: {
        /**
         * @description The `ETag` that the resource must still have, several of them, or `*` for any.
         * @example "HCQjcB4bqMnFVFVzCs9v2w"
         */
        'If-Match'?: components['parameters']['ifMatch'];
      };
      path: {
        /**
         * @description The id of a pet.
         * @example 42
         */
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
}
