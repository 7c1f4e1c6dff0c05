// Generated from openapi.yaml by `npm run rest-types`: change that instead.
export interface paths {
  '/pets': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * List pets
     * @description Answers pets in the order of their ids, page by page. With `id` it picks pets by their ids, all on one page unless `limit` says otherwise; ids that name no pet are left out.
     */
    get: operations['listPets'];
    put?: never;
    /**
     * Add a pet
     * @description Adds a pet to the store, with an empty inventory entry.
     */
    post: operations['createPet'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/pets/{petId}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Find a pet by its id
     * @deprecated
     * @description Answers one pet. Deprecated: use `GET /pets?id={petId}`, which answers the pet in an array.
     */
    get: operations['getPet'];
    put?: never;
    post?: never;
    /**
     * Delete a pet
     * @description Deletes a pet with its inventory entry. A pet that has orders stays (409).
     */
    delete: operations['deletePet'];
    options?: never;
    head?: never;
    /**
     * Change a pet
     * @description Changes the fields that are given and leaves the others alone.
     */
    patch: operations['updatePet'];
    trace?: never;
  };
  '/categories': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * List categories
     * @description Answers all categories in the order of their ids, or a page of them when `limit` is given.
     */
    get: operations['listCategories'];
    put?: never;
    /**
     * Add a category
     * @description Adds a category.
     */
    post: operations['createCategory'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/categories/{categoryId}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Find a category by its id
     * @description Answers one category.
     */
    get: operations['getCategory'];
    put?: never;
    post?: never;
    /**
     * Delete a category
     * @description Deletes a category. One that has pets stays (409).
     */
    delete: operations['deleteCategory'];
    options?: never;
    head?: never;
    /**
     * Change a category
     * @description Changes the fields that are given and leaves the others alone; null takes the description away.
     */
    patch: operations['updateCategory'];
    trace?: never;
  };
  '/store/orders': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * List orders
     * @description Answers all orders in the order of their ids, or a page of them when `limit` is given. The whole collection is streamed: a response that breaks off is not complete.
     */
    get: operations['listOrders'];
    put?: never;
    /**
     * Place an order
     * @description Places an order. Stock and status of the pet stay as they are.
     */
    post: operations['createOrder'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/store/orders/{orderId}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Find an order by its id
     * @description Answers one order.
     */
    get: operations['getOrder'];
    put?: never;
    post?: never;
    /**
     * Cancel an order
     * @description Cancels an order, which deletes it. A complete order has shipped and stays (409).
     */
    delete: operations['cancelOrder'];
    options?: never;
    head?: never;
    /**
     * Change an order
     * @description Changes the fields that are given and leaves the others alone; null takes a value away. A complete order stays complete (409).
     */
    patch: operations['updateOrder'];
    trace?: never;
  };
  '/inventory': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * List the inventory
     * @description Answers all inventory entries in the order of their pets' ids, or a page of them when `limit` is given. The whole collection is streamed: a response that breaks off is not complete.
     */
    get: operations['listInventory'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/inventory/{petId}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Find the stock of a pet
     * @description Answers the inventory entry of one pet.
     */
    get: operations['getInventoryItem'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    /**
     * Set the stock of a pet
     * @description Sets how many units of a pet are in stock.
     */
    patch: operations['updateInventory'];
    trace?: never;
  };
}
interface components {
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
       * @description What the animal is called: white space at both ends is cut off, then 1 to 255 characters (Unicode code points) without control characters.
       * @example Rex
       */
      name: string;
      /**
       * Format: int64
       * @description The category that it belongs to; it must exist.
       * @example 1
       */
      categoryId: number;
      status?: components['schemas']['PetStatus'];
    };
    /** @description An animal of the store. */
    Pet: components['schemas']['NewPet'] & {
      /**
       * Format: int64
       * @description Assigned on creation.
       * @example 42
       */
      readonly id: number;
    };
    /** @description Pets in the order of their ids. */
    Pets: components['schemas']['Pet'][];
    /** @description Changes of a pet. What is left out stays; at least one field is needed. */
    PetChanges: {
      /**
       * @description A new name, by the rules of a new pet's.
       * @example Rex the second
       */
      name?: string;
      /**
       * Format: int64
       * @description The category that it belongs to from now on; it must exist.
       * @example 2
       */
      categoryId?: number;
      status?: components['schemas']['PetStatus'];
    };
    /** @description A category to be added. */
    NewCategory: {
      /**
       * @description What the kind of animal is called: white space at both ends is cut off, then 1 to 255 characters (Unicode code points) without control characters.
       * @example Dogs
       */
      name: string;
      /**
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
      readonly id: number;
    };
    /** @description Changes of a category. What is left out stays; at least one field is needed. */
    CategoryChanges: {
      /**
       * @description A new name, by the rules of a new category's.
       * @example Good dogs
       */
      name?: string;
      /**
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
      petId?: number;
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
      readonly id?: number;
      /**
       * Format: int64
       * @description The animal that is ordered; it must exist.
       * @example 42
       */
      petId?: number;
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
      petId?: number | null;
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
      petId: number;
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
  responses: {
    /** @description A parameter or the body is wrong. The message names every failing field. */
    BadRequest: {
      headers: {
        'X-Request-Id': components['headers']['requestId'];
        'Cache-Control': components['headers']['uncacheable'];
        Vary: components['headers']['vary'];
        'X-RateLimit-Limit': components['headers']['rateLimitLimit'];
        'X-RateLimit-Remaining': components['headers']['rateLimitRemaining'];
        'X-RateLimit-Reset': components['headers']['rateLimitReset'];
        'RateLimit-Policy': components['headers']['rateLimitPolicy'];
        RateLimit: components['headers']['rateLimit'];
        [name: string]: unknown;
      };
      content: {
        'application/json': components['schemas']['Error'];
      };
    };
    /** @description There is no valid API key with the request. */
    Unauthorized: {
      headers: {
        'X-Request-Id': components['headers']['requestId'];
        'Cache-Control': components['headers']['uncacheable'];
        Vary: components['headers']['vary'];
        'X-RateLimit-Limit': components['headers']['rateLimitLimit'];
        'X-RateLimit-Remaining': components['headers']['rateLimitRemaining'];
        'X-RateLimit-Reset': components['headers']['rateLimitReset'];
        'RateLimit-Policy': components['headers']['rateLimitPolicy'];
        RateLimit: components['headers']['rateLimit'];
        'WWW-Authenticate': components['headers']['wwwAuthenticate'];
        [name: string]: unknown;
      };
      content: {
        /**
         * @example {
         *       "code": "unauthorized",
         *       "message": "A key is needed: send Authorization: Bearer KEY, or X-API-Key: KEY.",
         *       "status": 401
         *     }
         */
        'application/json': components['schemas']['Error'];
      };
    };
    /** @description The key lacks the scope (`forbidden`), or is banned for a while (`key_banned`). */
    Forbidden: {
      headers: {
        'X-Request-Id': components['headers']['requestId'];
        'Cache-Control': components['headers']['uncacheable'];
        Vary: components['headers']['vary'];
        'X-RateLimit-Limit': components['headers']['rateLimitLimit'];
        'X-RateLimit-Remaining': components['headers']['rateLimitRemaining'];
        'X-RateLimit-Reset': components['headers']['rateLimitReset'];
        'RateLimit-Policy': components['headers']['rateLimitPolicy'];
        RateLimit: components['headers']['rateLimit'];
        'WWW-Authenticate': components['headers']['wwwAuthenticateScope'];
        'Retry-After': components['headers']['retryAfterBan'];
        [name: string]: unknown;
      };
      content: {
        'application/json': components['schemas']['Error'];
      };
    };
    /** @description There is nothing with this id. */
    NotFound: {
      headers: {
        'X-Request-Id': components['headers']['requestId'];
        'Cache-Control': components['headers']['uncacheable'];
        Vary: components['headers']['vary'];
        'X-RateLimit-Limit': components['headers']['rateLimitLimit'];
        'X-RateLimit-Remaining': components['headers']['rateLimitRemaining'];
        'X-RateLimit-Reset': components['headers']['rateLimitReset'];
        'RateLimit-Policy': components['headers']['rateLimitPolicy'];
        RateLimit: components['headers']['rateLimit'];
        [name: string]: unknown;
      };
      content: {
        /**
         * @example {
         *       "code": "not_found",
         *       "message": "There is no pet with the id \"42\".",
         *       "status": 404
         *     }
         */
        'application/json': components['schemas']['Error'];
      };
    };
    /** @description What any other method on this path answers; `Allow` names those that it has. */
    MethodNotAllowed: {
      headers: {
        'X-Request-Id': components['headers']['requestId'];
        'Cache-Control': components['headers']['uncacheable'];
        Vary: components['headers']['vary'];
        'X-RateLimit-Limit': components['headers']['rateLimitLimit'];
        'X-RateLimit-Remaining': components['headers']['rateLimitRemaining'];
        'X-RateLimit-Reset': components['headers']['rateLimitReset'];
        'RateLimit-Policy': components['headers']['rateLimitPolicy'];
        RateLimit: components['headers']['rateLimit'];
        Allow: components['headers']['allow'];
        [name: string]: unknown;
      };
      content: {
        /**
         * @example {
         *       "code": "method_not_allowed",
         *       "message": "PUT is not possible here, only GET, HEAD, OPTIONS, POST.",
         *       "status": 405
         *     }
         */
        'application/json': components['schemas']['Error'];
      };
    };
    /** @description The client doesn't accept JSON, and there is nothing else. */
    NotAcceptable: {
      headers: {
        'X-Request-Id': components['headers']['requestId'];
        'Cache-Control': components['headers']['uncacheable'];
        Vary: components['headers']['vary'];
        'X-RateLimit-Limit': components['headers']['rateLimitLimit'];
        'X-RateLimit-Remaining': components['headers']['rateLimitRemaining'];
        'X-RateLimit-Reset': components['headers']['rateLimitReset'];
        'RateLimit-Policy': components['headers']['rateLimitPolicy'];
        RateLimit: components['headers']['rateLimit'];
        [name: string]: unknown;
      };
      content: {
        /**
         * @example {
         *       "code": "not_acceptable",
         *       "message": "Only application/json can be answered here.",
         *       "status": 406
         *     }
         */
        'application/json': components['schemas']['Error'];
      };
    };
    /** @description The state of the resource doesn't allow it. */
    Conflict: {
      headers: {
        'X-Request-Id': components['headers']['requestId'];
        'Cache-Control': components['headers']['uncacheable'];
        Vary: components['headers']['vary'];
        'X-RateLimit-Limit': components['headers']['rateLimitLimit'];
        'X-RateLimit-Remaining': components['headers']['rateLimitRemaining'];
        'X-RateLimit-Reset': components['headers']['rateLimitReset'];
        'RateLimit-Policy': components['headers']['rateLimitPolicy'];
        RateLimit: components['headers']['rateLimit'];
        [name: string]: unknown;
      };
      content: {
        /**
         * @example {
         *       "code": "conflict",
         *       "message": "Order 7 is complete, and a complete order stays complete.",
         *       "status": 409
         *     }
         */
        'application/json': components['schemas']['Error'];
      };
    };
    /** @description The first request with this `Idempotency-Key` is still running. */
    StillRunning: {
      headers: {
        'X-Request-Id': components['headers']['requestId'];
        'Cache-Control': components['headers']['uncacheable'];
        Vary: components['headers']['vary'];
        'X-RateLimit-Limit': components['headers']['rateLimitLimit'];
        'X-RateLimit-Remaining': components['headers']['rateLimitRemaining'];
        'X-RateLimit-Reset': components['headers']['rateLimitReset'];
        'RateLimit-Policy': components['headers']['rateLimitPolicy'];
        RateLimit: components['headers']['rateLimit'];
        [name: string]: unknown;
      };
      content: {
        /**
         * @example {
         *       "code": "conflict",
         *       "message": "The first request with this Idempotency-Key is still running. Try again in a moment.",
         *       "status": 409
         *     }
         */
        'application/json': components['schemas']['Error'];
      };
    };
    /** @description The resource no longer has the `ETag` of `If-Match`. Somebody else was faster. */
    PreconditionFailed: {
      headers: {
        'X-Request-Id': components['headers']['requestId'];
        'Cache-Control': components['headers']['uncacheable'];
        Vary: components['headers']['vary'];
        'X-RateLimit-Limit': components['headers']['rateLimitLimit'];
        'X-RateLimit-Remaining': components['headers']['rateLimitRemaining'];
        'X-RateLimit-Reset': components['headers']['rateLimitReset'];
        'RateLimit-Policy': components['headers']['rateLimitPolicy'];
        RateLimit: components['headers']['rateLimit'];
        [name: string]: unknown;
      };
      content: {
        /**
         * @example {
         *       "code": "precondition_failed",
         *       "message": "The pet 42 is no longer in the state that was expected.",
         *       "status": 412
         *     }
         */
        'application/json': components['schemas']['Error'];
      };
    };
    /** @description The body has more than 1 MiB. */
    PayloadTooLarge: {
      headers: {
        'X-Request-Id': components['headers']['requestId'];
        'Cache-Control': components['headers']['uncacheable'];
        Vary: components['headers']['vary'];
        'X-RateLimit-Limit': components['headers']['rateLimitLimit'];
        'X-RateLimit-Remaining': components['headers']['rateLimitRemaining'];
        'X-RateLimit-Reset': components['headers']['rateLimitReset'];
        'RateLimit-Policy': components['headers']['rateLimitPolicy'];
        RateLimit: components['headers']['rateLimit'];
        [name: string]: unknown;
      };
      content: {
        /**
         * @example {
         *       "code": "payload_too_large",
         *       "message": "The request body is larger than 1 MiB (1,048,576 bytes).",
         *       "status": 413
         *     }
         */
        'application/json': components['schemas']['Error'];
      };
    };
    /** @description The body is not of a type that is taken here. */
    UnsupportedMediaType: {
      headers: {
        'X-Request-Id': components['headers']['requestId'];
        'Cache-Control': components['headers']['uncacheable'];
        Vary: components['headers']['vary'];
        'X-RateLimit-Limit': components['headers']['rateLimitLimit'];
        'X-RateLimit-Remaining': components['headers']['rateLimitRemaining'];
        'X-RateLimit-Reset': components['headers']['rateLimitReset'];
        'RateLimit-Policy': components['headers']['rateLimitPolicy'];
        RateLimit: components['headers']['rateLimit'];
        [name: string]: unknown;
      };
      content: {
        /**
         * @example {
         *       "code": "unsupported_media_type",
         *       "message": "The body must be application/json, not compressed, and Content-Type must say so.",
         *       "status": 415
         *     }
         */
        'application/json': components['schemas']['Error'];
      };
    };
    /** @description The `Idempotency-Key` was used for another request. */
    KeyReused: {
      headers: {
        'X-Request-Id': components['headers']['requestId'];
        'Cache-Control': components['headers']['uncacheable'];
        Vary: components['headers']['vary'];
        'X-RateLimit-Limit': components['headers']['rateLimitLimit'];
        'X-RateLimit-Remaining': components['headers']['rateLimitRemaining'];
        'X-RateLimit-Reset': components['headers']['rateLimitReset'];
        'RateLimit-Policy': components['headers']['rateLimitPolicy'];
        RateLimit: components['headers']['rateLimit'];
        [name: string]: unknown;
      };
      content: {
        /**
         * @example {
         *       "code": "idempotency_key_reused",
         *       "message": "This Idempotency-Key was used for another request: make up a new one, or send exactly the same request.",
         *       "status": 422
         *     }
         */
        'application/json': components['schemas']['Error'];
      };
    };
    /** @description The quota of the plan is spent, or too many whole collections are being read with this key. */
    TooManyRequests: {
      headers: {
        'X-Request-Id': components['headers']['requestId'];
        'Cache-Control': components['headers']['uncacheable'];
        Vary: components['headers']['vary'];
        'X-RateLimit-Limit': components['headers']['rateLimitLimit'];
        'X-RateLimit-Remaining': components['headers']['rateLimitRemaining'];
        'X-RateLimit-Reset': components['headers']['rateLimitReset'];
        'RateLimit-Policy': components['headers']['rateLimitPolicy'];
        RateLimit: components['headers']['rateLimit'];
        'Retry-After': components['headers']['retryAfter'];
        [name: string]: unknown;
      };
      content: {
        /**
         * @example {
         *       "code": "rate_limited",
         *       "message": "The quota of 60 requests per minute and 1000 per day leaves no room for this request; it can succeed in 30 s.",
         *       "status": 429
         *     }
         */
        'application/json': components['schemas']['Error'];
      };
    };
    /** @description Something went wrong on our side. It is in our log, under the `X-Request-Id`. */
    InternalError: {
      headers: {
        'X-Request-Id': components['headers']['requestId'];
        'Cache-Control': components['headers']['uncacheable'];
        Vary: components['headers']['vary'];
        'X-RateLimit-Limit': components['headers']['rateLimitLimit'];
        'X-RateLimit-Remaining': components['headers']['rateLimitRemaining'];
        'X-RateLimit-Reset': components['headers']['rateLimitReset'];
        'RateLimit-Policy': components['headers']['rateLimitPolicy'];
        RateLimit: components['headers']['rateLimit'];
        [name: string]: unknown;
      };
      content: {
        /**
         * @example {
         *       "code": "internal_error",
         *       "message": "Something went wrong on our side. It has been logged with the request id of this response.",
         *       "status": 500
         *     }
         */
        'application/json': components['schemas']['Error'];
      };
    };
    /** @description The store can't answer at the moment. */
    Unavailable: {
      headers: {
        'X-Request-Id': components['headers']['requestId'];
        'Cache-Control': components['headers']['uncacheable'];
        Vary: components['headers']['vary'];
        'X-RateLimit-Limit': components['headers']['rateLimitLimit'];
        'X-RateLimit-Remaining': components['headers']['rateLimitRemaining'];
        'X-RateLimit-Reset': components['headers']['rateLimitReset'];
        'RateLimit-Policy': components['headers']['rateLimitPolicy'];
        RateLimit: components['headers']['rateLimit'];
        'Retry-After': components['headers']['retryAfter'];
        [name: string]: unknown;
      };
      content: {
        /**
         * @example {
         *       "code": "unavailable",
         *       "message": "The store is not available at the moment. Try again in a few seconds.",
         *       "status": 503
         *     }
         */
        'application/json': components['schemas']['Error'];
      };
    };
    /** @description It is gone. */
    Deleted: {
      headers: {
        'X-Request-Id': components['headers']['requestId'];
        'Cache-Control': components['headers']['cacheable'];
        Vary: components['headers']['vary'];
        'X-RateLimit-Limit': components['headers']['rateLimitLimit'];
        'X-RateLimit-Remaining': components['headers']['rateLimitRemaining'];
        'X-RateLimit-Reset': components['headers']['rateLimitReset'];
        'RateLimit-Policy': components['headers']['rateLimitPolicy'];
        RateLimit: components['headers']['rateLimit'];
        [name: string]: unknown;
      };
      content?: never;
    };
    /** @description The client has the current state already. */
    NotModified: {
      headers: {
        'X-Request-Id': components['headers']['requestId'];
        'Cache-Control': components['headers']['cacheable'];
        Vary: components['headers']['vary'];
        'X-RateLimit-Limit': components['headers']['rateLimitLimit'];
        'X-RateLimit-Remaining': components['headers']['rateLimitRemaining'];
        'X-RateLimit-Reset': components['headers']['rateLimitReset'];
        'RateLimit-Policy': components['headers']['rateLimitPolicy'];
        RateLimit: components['headers']['rateLimit'];
        ETag: components['headers']['etag'];
        [name: string]: unknown;
      };
      content?: never;
    };
  };
  parameters: {
    /**
     * @description The id of a pet.
     * @example 42
     */
    petId: number;
    /**
     * @description The id of a category.
     * @example 1
     */
    categoryId: number;
    /**
     * @description The id of an order.
     * @example 7
     */
    orderId: number;
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
  headers: {
    /**
     * @description Names this request, in our log too. Your own is taken over when it is harmless.
     * @example 6f1b1d3e-4f7a-4f0e-9f65-0b6f6a3a8f10
     */
    requestId: string;
    /** @description May be kept by the client alone, and must be asked about before it is used again. */
    cacheable: 'private, no-cache';
    /** @description Must not be kept. */
    uncacheable: 'no-store';
    /**
     * @description What the response depends on besides its address.
     * @example Authorization, X-API-Key, Accept, Origin
     */
    vary: string;
    /**
     * @description The size of the window with the fewest requests left.
     * @example 60
     */
    rateLimitLimit: number;
    /**
     * @description The requests that are left in it.
     * @example 59
     */
    rateLimitRemaining: number;
    /**
     * @description When it starts anew, in seconds since 1970 (Unix time).
     * @example 1795264800
     */
    rateLimitReset: number;
    /**
     * @description Both windows, with their quota `q` and length `w` in seconds.
     * @example "minute";q=60;w=60, "day";q=1000;w=86400
     */
    rateLimitPolicy: string;
    /**
     * @description What remains (`r`) of both windows, and in how many seconds they start anew (`t`).
     * @example "minute";r=59;t=42, "day";r=990;t=40000
     */
    rateLimit: string;
    /**
     * @description Names exactly this state of the resource.
     * @example "HCQjcB4bqMnFVFVzCs9v2w"
     */
    etag: string;
    /**
     * @description With `id`, names exactly this state of the pets that were found.
     * @example "HCQjcB4bqMnFVFVzCs9v2w"
     */
    selectionEtag: string;
    /**
     * @description The address of what was created.
     * @example /pets/42
     */
    location: string;
    /**
     * @description The address of the next page (RFC 8288); missing on the last one.
     * @example </pets?cursor=eyJhIjoxfQ&limit=20>; rel="next"
     */
    nextPage: string;
    /** @description `true` when this is the answer to an earlier request with the same `Idempotency-Key`. */
    replayed: 'true';
    /**
     * @description Whole seconds to wait before trying again.
     * @example 30
     */
    retryAfter: number;
    /**
     * @description With `key_banned`, the whole seconds until the ban ends.
     * @example 900
     */
    retryAfterBan: number;
    /**
     * @description How to authenticate (RFC 6750).
     * @example Bearer realm="petstore"
     */
    wwwAuthenticate: string;
    /**
     * @description With `forbidden`, that the key lacks the scope (RFC 6750).
     * @example Bearer realm="petstore", error="insufficient_scope"
     */
    wwwAuthenticateScope: string;
    /**
     * @description The methods that the path has.
     * @example GET, HEAD, OPTIONS, POST
     */
    allow: string;
    /** @description Since when the operation is deprecated (RFC 9745). */
    deprecation: '@1764892800';
    /** @description When the operation will be gone (RFC 8594). */
    sunset: 'Thu, 05 Dec 2030 00:00:00 GMT';
    /**
     * @description The page about the deprecation (`deprecation`), and what to use instead (`successor-version`).
     * @example </docs>; rel="deprecation"; type="text/html", </pets?id=42>; rel="successor-version"
     */
    successor: string;
  };
  pathItems: never;
}
interface operations {
  listPets: {
    parameters: {
      query?: {
        /**
         * @description How many are answered at most. When it is left out, 20; with `id`, all of them.
         * @example 20
         */
        limit?: number;
        /** @description The place after which the page begins, from a `Link` of this list. */
        cursor?: string;
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
        id?: number[];
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
    responses: {
      /** @description A page of pets. */
      200: {
        headers: {
          'X-Request-Id': components['headers']['requestId'];
          'Cache-Control': components['headers']['cacheable'];
          Vary: components['headers']['vary'];
          'X-RateLimit-Limit': components['headers']['rateLimitLimit'];
          'X-RateLimit-Remaining': components['headers']['rateLimitRemaining'];
          'X-RateLimit-Reset': components['headers']['rateLimitReset'];
          'RateLimit-Policy': components['headers']['rateLimitPolicy'];
          RateLimit: components['headers']['rateLimit'];
          Link: components['headers']['nextPage'];
          ETag: components['headers']['selectionEtag'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example [
           *       {
           *         "id": 42,
           *         "name": "Rex",
           *         "categoryId": 1,
           *         "status": "available"
           *       }
           *     ]
           */
          'application/json': components['schemas']['Pets'];
        };
      };
      304: components['responses']['NotModified'];
      400: components['responses']['BadRequest'];
      401: components['responses']['Unauthorized'];
      403: components['responses']['Forbidden'];
      405: components['responses']['MethodNotAllowed'];
      406: components['responses']['NotAcceptable'];
      429: components['responses']['TooManyRequests'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
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
    responses: {
      /** @description The new pet. */
      201: {
        headers: {
          'X-Request-Id': components['headers']['requestId'];
          'Cache-Control': components['headers']['uncacheable'];
          Vary: components['headers']['vary'];
          'X-RateLimit-Limit': components['headers']['rateLimitLimit'];
          'X-RateLimit-Remaining': components['headers']['rateLimitRemaining'];
          'X-RateLimit-Reset': components['headers']['rateLimitReset'];
          'RateLimit-Policy': components['headers']['rateLimitPolicy'];
          RateLimit: components['headers']['rateLimit'];
          ETag: components['headers']['etag'];
          Location: components['headers']['location'];
          'Idempotent-Replayed': components['headers']['replayed'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": 42,
           *       "name": "Rex",
           *       "categoryId": 1,
           *       "status": "available"
           *     }
           */
          'application/json': components['schemas']['Pet'];
        };
      };
      400: components['responses']['BadRequest'];
      401: components['responses']['Unauthorized'];
      403: components['responses']['Forbidden'];
      405: components['responses']['MethodNotAllowed'];
      406: components['responses']['NotAcceptable'];
      409: components['responses']['StillRunning'];
      413: components['responses']['PayloadTooLarge'];
      415: components['responses']['UnsupportedMediaType'];
      422: components['responses']['KeyReused'];
      429: components['responses']['TooManyRequests'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
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
    responses: {
      /** @description The pet. */
      200: {
        headers: {
          'X-Request-Id': components['headers']['requestId'];
          'Cache-Control': components['headers']['cacheable'];
          Vary: components['headers']['vary'];
          'X-RateLimit-Limit': components['headers']['rateLimitLimit'];
          'X-RateLimit-Remaining': components['headers']['rateLimitRemaining'];
          'X-RateLimit-Reset': components['headers']['rateLimitReset'];
          'RateLimit-Policy': components['headers']['rateLimitPolicy'];
          RateLimit: components['headers']['rateLimit'];
          ETag: components['headers']['etag'];
          Deprecation: components['headers']['deprecation'];
          Sunset: components['headers']['sunset'];
          Link: components['headers']['successor'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": 42,
           *       "name": "Rex",
           *       "categoryId": 1,
           *       "status": "available"
           *     }
           */
          'application/json': components['schemas']['Pet'];
        };
      };
      /** @description The client has the current state already. */
      304: {
        headers: {
          'X-Request-Id': components['headers']['requestId'];
          'Cache-Control': components['headers']['cacheable'];
          Vary: components['headers']['vary'];
          'X-RateLimit-Limit': components['headers']['rateLimitLimit'];
          'X-RateLimit-Remaining': components['headers']['rateLimitRemaining'];
          'X-RateLimit-Reset': components['headers']['rateLimitReset'];
          'RateLimit-Policy': components['headers']['rateLimitPolicy'];
          RateLimit: components['headers']['rateLimit'];
          ETag: components['headers']['etag'];
          Deprecation: components['headers']['deprecation'];
          Sunset: components['headers']['sunset'];
          Link: components['headers']['successor'];
          [name: string]: unknown;
        };
        content?: never;
      };
      /** @description There is no valid API key with the request. */
      401: {
        headers: {
          'X-Request-Id': components['headers']['requestId'];
          'Cache-Control': components['headers']['uncacheable'];
          Vary: components['headers']['vary'];
          'X-RateLimit-Limit': components['headers']['rateLimitLimit'];
          'X-RateLimit-Remaining': components['headers']['rateLimitRemaining'];
          'X-RateLimit-Reset': components['headers']['rateLimitReset'];
          'RateLimit-Policy': components['headers']['rateLimitPolicy'];
          RateLimit: components['headers']['rateLimit'];
          'WWW-Authenticate': components['headers']['wwwAuthenticate'];
          Deprecation: components['headers']['deprecation'];
          Sunset: components['headers']['sunset'];
          Link: components['headers']['successor'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "code": "unauthorized",
           *       "message": "A key is needed: send Authorization: Bearer KEY, or X-API-Key: KEY.",
           *       "status": 401
           *     }
           */
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description The key may not do this, or is banned for a while. */
      403: {
        headers: {
          'X-Request-Id': components['headers']['requestId'];
          'Cache-Control': components['headers']['uncacheable'];
          Vary: components['headers']['vary'];
          'X-RateLimit-Limit': components['headers']['rateLimitLimit'];
          'X-RateLimit-Remaining': components['headers']['rateLimitRemaining'];
          'X-RateLimit-Reset': components['headers']['rateLimitReset'];
          'RateLimit-Policy': components['headers']['rateLimitPolicy'];
          RateLimit: components['headers']['rateLimit'];
          'WWW-Authenticate': components['headers']['wwwAuthenticateScope'];
          'Retry-After': components['headers']['retryAfterBan'];
          Deprecation: components['headers']['deprecation'];
          Sunset: components['headers']['sunset'];
          Link: components['headers']['successor'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description There is no pet with this id. */
      404: {
        headers: {
          'X-Request-Id': components['headers']['requestId'];
          'Cache-Control': components['headers']['uncacheable'];
          Vary: components['headers']['vary'];
          'X-RateLimit-Limit': components['headers']['rateLimitLimit'];
          'X-RateLimit-Remaining': components['headers']['rateLimitRemaining'];
          'X-RateLimit-Reset': components['headers']['rateLimitReset'];
          'RateLimit-Policy': components['headers']['rateLimitPolicy'];
          RateLimit: components['headers']['rateLimit'];
          Deprecation: components['headers']['deprecation'];
          Sunset: components['headers']['sunset'];
          Link: components['headers']['successor'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "code": "not_found",
           *       "message": "There is no pet with the id \"42\".",
           *       "status": 404
           *     }
           */
          'application/json': components['schemas']['Error'];
        };
      };
      405: components['responses']['MethodNotAllowed'];
      /** @description The client doesn't accept JSON, and there is nothing else. */
      406: {
        headers: {
          'X-Request-Id': components['headers']['requestId'];
          'Cache-Control': components['headers']['uncacheable'];
          Vary: components['headers']['vary'];
          'X-RateLimit-Limit': components['headers']['rateLimitLimit'];
          'X-RateLimit-Remaining': components['headers']['rateLimitRemaining'];
          'X-RateLimit-Reset': components['headers']['rateLimitReset'];
          'RateLimit-Policy': components['headers']['rateLimitPolicy'];
          RateLimit: components['headers']['rateLimit'];
          Deprecation: components['headers']['deprecation'];
          Sunset: components['headers']['sunset'];
          Link: components['headers']['successor'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "code": "not_acceptable",
           *       "message": "Only application/json can be answered here.",
           *       "status": 406
           *     }
           */
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description The quota of the plan is spent. */
      429: {
        headers: {
          'X-Request-Id': components['headers']['requestId'];
          'Cache-Control': components['headers']['uncacheable'];
          Vary: components['headers']['vary'];
          'X-RateLimit-Limit': components['headers']['rateLimitLimit'];
          'X-RateLimit-Remaining': components['headers']['rateLimitRemaining'];
          'X-RateLimit-Reset': components['headers']['rateLimitReset'];
          'RateLimit-Policy': components['headers']['rateLimitPolicy'];
          RateLimit: components['headers']['rateLimit'];
          'Retry-After': components['headers']['retryAfter'];
          Deprecation: components['headers']['deprecation'];
          Sunset: components['headers']['sunset'];
          Link: components['headers']['successor'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "code": "rate_limited",
           *       "message": "The quota of 60 requests per minute and 1000 per day leaves no room for this request; it can succeed in 30 s.",
           *       "status": 429
           *     }
           */
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description Something went wrong on our side. It is in our log, under the `X-Request-Id`. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['requestId'];
          'Cache-Control': components['headers']['uncacheable'];
          Vary: components['headers']['vary'];
          'X-RateLimit-Limit': components['headers']['rateLimitLimit'];
          'X-RateLimit-Remaining': components['headers']['rateLimitRemaining'];
          'X-RateLimit-Reset': components['headers']['rateLimitReset'];
          'RateLimit-Policy': components['headers']['rateLimitPolicy'];
          RateLimit: components['headers']['rateLimit'];
          Deprecation: components['headers']['deprecation'];
          Sunset: components['headers']['sunset'];
          Link: components['headers']['successor'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "code": "internal_error",
           *       "message": "Something went wrong on our side. It has been logged with the request id of this response.",
           *       "status": 500
           *     }
           */
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description The store can't answer at the moment. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['requestId'];
          'Cache-Control': components['headers']['uncacheable'];
          Vary: components['headers']['vary'];
          'X-RateLimit-Limit': components['headers']['rateLimitLimit'];
          'X-RateLimit-Remaining': components['headers']['rateLimitRemaining'];
          'X-RateLimit-Reset': components['headers']['rateLimitReset'];
          'RateLimit-Policy': components['headers']['rateLimitPolicy'];
          RateLimit: components['headers']['rateLimit'];
          'Retry-After': components['headers']['retryAfter'];
          Deprecation: components['headers']['deprecation'];
          Sunset: components['headers']['sunset'];
          Link: components['headers']['successor'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "code": "unavailable",
           *       "message": "The store is not available at the moment. Try again in a few seconds.",
           *       "status": 503
           *     }
           */
          'application/json': components['schemas']['Error'];
        };
      };
    };
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
    responses: {
      204: components['responses']['Deleted'];
      401: components['responses']['Unauthorized'];
      403: components['responses']['Forbidden'];
      404: components['responses']['NotFound'];
      405: components['responses']['MethodNotAllowed'];
      406: components['responses']['NotAcceptable'];
      409: components['responses']['Conflict'];
      412: components['responses']['PreconditionFailed'];
      413: components['responses']['PayloadTooLarge'];
      429: components['responses']['TooManyRequests'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
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
    responses: {
      /** @description The pet as it is now. */
      200: {
        headers: {
          'X-Request-Id': components['headers']['requestId'];
          'Cache-Control': components['headers']['cacheable'];
          Vary: components['headers']['vary'];
          'X-RateLimit-Limit': components['headers']['rateLimitLimit'];
          'X-RateLimit-Remaining': components['headers']['rateLimitRemaining'];
          'X-RateLimit-Reset': components['headers']['rateLimitReset'];
          'RateLimit-Policy': components['headers']['rateLimitPolicy'];
          RateLimit: components['headers']['rateLimit'];
          ETag: components['headers']['etag'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": 42,
           *       "name": "Rex",
           *       "categoryId": 1,
           *       "status": "available"
           *     }
           */
          'application/json': components['schemas']['Pet'];
        };
      };
      400: components['responses']['BadRequest'];
      401: components['responses']['Unauthorized'];
      403: components['responses']['Forbidden'];
      404: components['responses']['NotFound'];
      405: components['responses']['MethodNotAllowed'];
      406: components['responses']['NotAcceptable'];
      412: components['responses']['PreconditionFailed'];
      413: components['responses']['PayloadTooLarge'];
      415: components['responses']['UnsupportedMediaType'];
      429: components['responses']['TooManyRequests'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
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
        cursor?: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The categories. */
      200: {
        headers: {
          'X-Request-Id': components['headers']['requestId'];
          'Cache-Control': components['headers']['cacheable'];
          Vary: components['headers']['vary'];
          'X-RateLimit-Limit': components['headers']['rateLimitLimit'];
          'X-RateLimit-Remaining': components['headers']['rateLimitRemaining'];
          'X-RateLimit-Reset': components['headers']['rateLimitReset'];
          'RateLimit-Policy': components['headers']['rateLimitPolicy'];
          RateLimit: components['headers']['rateLimit'];
          Link: components['headers']['nextPage'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example [
           *       {
           *         "id": 1,
           *         "name": "Dogs",
           *         "description": "Loyal, and loud when the post comes."
           *       }
           *     ]
           */
          'application/json': components['schemas']['Category'][];
        };
      };
      400: components['responses']['BadRequest'];
      401: components['responses']['Unauthorized'];
      403: components['responses']['Forbidden'];
      405: components['responses']['MethodNotAllowed'];
      406: components['responses']['NotAcceptable'];
      429: components['responses']['TooManyRequests'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
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
    responses: {
      /** @description The new category. */
      201: {
        headers: {
          'X-Request-Id': components['headers']['requestId'];
          'Cache-Control': components['headers']['uncacheable'];
          Vary: components['headers']['vary'];
          'X-RateLimit-Limit': components['headers']['rateLimitLimit'];
          'X-RateLimit-Remaining': components['headers']['rateLimitRemaining'];
          'X-RateLimit-Reset': components['headers']['rateLimitReset'];
          'RateLimit-Policy': components['headers']['rateLimitPolicy'];
          RateLimit: components['headers']['rateLimit'];
          ETag: components['headers']['etag'];
          Location: components['headers']['location'];
          'Idempotent-Replayed': components['headers']['replayed'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": 1,
           *       "name": "Dogs",
           *       "description": "Loyal, and loud when the post comes."
           *     }
           */
          'application/json': components['schemas']['Category'];
        };
      };
      400: components['responses']['BadRequest'];
      401: components['responses']['Unauthorized'];
      403: components['responses']['Forbidden'];
      405: components['responses']['MethodNotAllowed'];
      406: components['responses']['NotAcceptable'];
      409: components['responses']['StillRunning'];
      413: components['responses']['PayloadTooLarge'];
      415: components['responses']['UnsupportedMediaType'];
      422: components['responses']['KeyReused'];
      429: components['responses']['TooManyRequests'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
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
    responses: {
      /** @description The category. */
      200: {
        headers: {
          'X-Request-Id': components['headers']['requestId'];
          'Cache-Control': components['headers']['cacheable'];
          Vary: components['headers']['vary'];
          'X-RateLimit-Limit': components['headers']['rateLimitLimit'];
          'X-RateLimit-Remaining': components['headers']['rateLimitRemaining'];
          'X-RateLimit-Reset': components['headers']['rateLimitReset'];
          'RateLimit-Policy': components['headers']['rateLimitPolicy'];
          RateLimit: components['headers']['rateLimit'];
          ETag: components['headers']['etag'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": 1,
           *       "name": "Dogs",
           *       "description": "Loyal, and loud when the post comes."
           *     }
           */
          'application/json': components['schemas']['Category'];
        };
      };
      304: components['responses']['NotModified'];
      401: components['responses']['Unauthorized'];
      403: components['responses']['Forbidden'];
      404: components['responses']['NotFound'];
      405: components['responses']['MethodNotAllowed'];
      406: components['responses']['NotAcceptable'];
      429: components['responses']['TooManyRequests'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
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
    responses: {
      204: components['responses']['Deleted'];
      401: components['responses']['Unauthorized'];
      403: components['responses']['Forbidden'];
      404: components['responses']['NotFound'];
      405: components['responses']['MethodNotAllowed'];
      406: components['responses']['NotAcceptable'];
      409: components['responses']['Conflict'];
      412: components['responses']['PreconditionFailed'];
      413: components['responses']['PayloadTooLarge'];
      429: components['responses']['TooManyRequests'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
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
    responses: {
      /** @description The category as it is now. */
      200: {
        headers: {
          'X-Request-Id': components['headers']['requestId'];
          'Cache-Control': components['headers']['cacheable'];
          Vary: components['headers']['vary'];
          'X-RateLimit-Limit': components['headers']['rateLimitLimit'];
          'X-RateLimit-Remaining': components['headers']['rateLimitRemaining'];
          'X-RateLimit-Reset': components['headers']['rateLimitReset'];
          'RateLimit-Policy': components['headers']['rateLimitPolicy'];
          RateLimit: components['headers']['rateLimit'];
          ETag: components['headers']['etag'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": 1,
           *       "name": "Dogs",
           *       "description": "Loyal, and loud when the post comes."
           *     }
           */
          'application/json': components['schemas']['Category'];
        };
      };
      400: components['responses']['BadRequest'];
      401: components['responses']['Unauthorized'];
      403: components['responses']['Forbidden'];
      404: components['responses']['NotFound'];
      405: components['responses']['MethodNotAllowed'];
      406: components['responses']['NotAcceptable'];
      412: components['responses']['PreconditionFailed'];
      413: components['responses']['PayloadTooLarge'];
      415: components['responses']['UnsupportedMediaType'];
      429: components['responses']['TooManyRequests'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
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
        cursor?: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The orders. */
      200: {
        headers: {
          'X-Request-Id': components['headers']['requestId'];
          'Cache-Control': components['headers']['cacheable'];
          Vary: components['headers']['vary'];
          'X-RateLimit-Limit': components['headers']['rateLimitLimit'];
          'X-RateLimit-Remaining': components['headers']['rateLimitRemaining'];
          'X-RateLimit-Reset': components['headers']['rateLimitReset'];
          'RateLimit-Policy': components['headers']['rateLimitPolicy'];
          RateLimit: components['headers']['rateLimit'];
          Link: components['headers']['nextPage'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example [
           *       {
           *         "id": 7,
           *         "petId": 42,
           *         "quantity": 1,
           *         "shipDate": "2026-12-24T10:00:00.000Z",
           *         "complete": false
           *       }
           *     ]
           */
          'application/json': components['schemas']['Order'][];
        };
      };
      400: components['responses']['BadRequest'];
      401: components['responses']['Unauthorized'];
      403: components['responses']['Forbidden'];
      405: components['responses']['MethodNotAllowed'];
      406: components['responses']['NotAcceptable'];
      429: components['responses']['TooManyRequests'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
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
    responses: {
      /** @description The new order. */
      201: {
        headers: {
          'X-Request-Id': components['headers']['requestId'];
          'Cache-Control': components['headers']['uncacheable'];
          Vary: components['headers']['vary'];
          'X-RateLimit-Limit': components['headers']['rateLimitLimit'];
          'X-RateLimit-Remaining': components['headers']['rateLimitRemaining'];
          'X-RateLimit-Reset': components['headers']['rateLimitReset'];
          'RateLimit-Policy': components['headers']['rateLimitPolicy'];
          RateLimit: components['headers']['rateLimit'];
          ETag: components['headers']['etag'];
          Location: components['headers']['location'];
          'Idempotent-Replayed': components['headers']['replayed'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": 7,
           *       "petId": 42,
           *       "quantity": 1,
           *       "shipDate": "2026-12-24T10:00:00.000Z",
           *       "complete": false
           *     }
           */
          'application/json': components['schemas']['Order'];
        };
      };
      400: components['responses']['BadRequest'];
      401: components['responses']['Unauthorized'];
      403: components['responses']['Forbidden'];
      405: components['responses']['MethodNotAllowed'];
      406: components['responses']['NotAcceptable'];
      409: components['responses']['StillRunning'];
      413: components['responses']['PayloadTooLarge'];
      415: components['responses']['UnsupportedMediaType'];
      422: components['responses']['KeyReused'];
      429: components['responses']['TooManyRequests'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
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
    responses: {
      /** @description The order. */
      200: {
        headers: {
          'X-Request-Id': components['headers']['requestId'];
          'Cache-Control': components['headers']['cacheable'];
          Vary: components['headers']['vary'];
          'X-RateLimit-Limit': components['headers']['rateLimitLimit'];
          'X-RateLimit-Remaining': components['headers']['rateLimitRemaining'];
          'X-RateLimit-Reset': components['headers']['rateLimitReset'];
          'RateLimit-Policy': components['headers']['rateLimitPolicy'];
          RateLimit: components['headers']['rateLimit'];
          ETag: components['headers']['etag'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": 7,
           *       "petId": 42,
           *       "quantity": 1,
           *       "shipDate": "2026-12-24T10:00:00.000Z",
           *       "complete": false
           *     }
           */
          'application/json': components['schemas']['Order'];
        };
      };
      304: components['responses']['NotModified'];
      401: components['responses']['Unauthorized'];
      403: components['responses']['Forbidden'];
      404: components['responses']['NotFound'];
      405: components['responses']['MethodNotAllowed'];
      406: components['responses']['NotAcceptable'];
      429: components['responses']['TooManyRequests'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
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
    responses: {
      204: components['responses']['Deleted'];
      401: components['responses']['Unauthorized'];
      403: components['responses']['Forbidden'];
      404: components['responses']['NotFound'];
      405: components['responses']['MethodNotAllowed'];
      406: components['responses']['NotAcceptable'];
      409: components['responses']['Conflict'];
      412: components['responses']['PreconditionFailed'];
      413: components['responses']['PayloadTooLarge'];
      429: components['responses']['TooManyRequests'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
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
    responses: {
      /** @description The order as it is now. */
      200: {
        headers: {
          'X-Request-Id': components['headers']['requestId'];
          'Cache-Control': components['headers']['cacheable'];
          Vary: components['headers']['vary'];
          'X-RateLimit-Limit': components['headers']['rateLimitLimit'];
          'X-RateLimit-Remaining': components['headers']['rateLimitRemaining'];
          'X-RateLimit-Reset': components['headers']['rateLimitReset'];
          'RateLimit-Policy': components['headers']['rateLimitPolicy'];
          RateLimit: components['headers']['rateLimit'];
          ETag: components['headers']['etag'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": 7,
           *       "petId": 42,
           *       "quantity": 1,
           *       "shipDate": "2026-12-24T10:00:00.000Z",
           *       "complete": false
           *     }
           */
          'application/json': components['schemas']['Order'];
        };
      };
      400: components['responses']['BadRequest'];
      401: components['responses']['Unauthorized'];
      403: components['responses']['Forbidden'];
      404: components['responses']['NotFound'];
      405: components['responses']['MethodNotAllowed'];
      406: components['responses']['NotAcceptable'];
      409: components['responses']['Conflict'];
      412: components['responses']['PreconditionFailed'];
      413: components['responses']['PayloadTooLarge'];
      415: components['responses']['UnsupportedMediaType'];
      429: components['responses']['TooManyRequests'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
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
        cursor?: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The inventory entries. */
      200: {
        headers: {
          'X-Request-Id': components['headers']['requestId'];
          'Cache-Control': components['headers']['cacheable'];
          Vary: components['headers']['vary'];
          'X-RateLimit-Limit': components['headers']['rateLimitLimit'];
          'X-RateLimit-Remaining': components['headers']['rateLimitRemaining'];
          'X-RateLimit-Reset': components['headers']['rateLimitReset'];
          'RateLimit-Policy': components['headers']['rateLimitPolicy'];
          RateLimit: components['headers']['rateLimit'];
          Link: components['headers']['nextPage'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example [
           *       {
           *         "petId": 42,
           *         "quantity": 3,
           *         "status": "available"
           *       }
           *     ]
           */
          'application/json': components['schemas']['InventoryItem'][];
        };
      };
      400: components['responses']['BadRequest'];
      401: components['responses']['Unauthorized'];
      403: components['responses']['Forbidden'];
      405: components['responses']['MethodNotAllowed'];
      406: components['responses']['NotAcceptable'];
      429: components['responses']['TooManyRequests'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
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
    responses: {
      /** @description The inventory entry. */
      200: {
        headers: {
          'X-Request-Id': components['headers']['requestId'];
          'Cache-Control': components['headers']['cacheable'];
          Vary: components['headers']['vary'];
          'X-RateLimit-Limit': components['headers']['rateLimitLimit'];
          'X-RateLimit-Remaining': components['headers']['rateLimitRemaining'];
          'X-RateLimit-Reset': components['headers']['rateLimitReset'];
          'RateLimit-Policy': components['headers']['rateLimitPolicy'];
          RateLimit: components['headers']['rateLimit'];
          ETag: components['headers']['etag'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "petId": 42,
           *       "quantity": 3,
           *       "status": "available"
           *     }
           */
          'application/json': components['schemas']['InventoryItem'];
        };
      };
      304: components['responses']['NotModified'];
      401: components['responses']['Unauthorized'];
      403: components['responses']['Forbidden'];
      404: components['responses']['NotFound'];
      405: components['responses']['MethodNotAllowed'];
      406: components['responses']['NotAcceptable'];
      429: components['responses']['TooManyRequests'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
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
    responses: {
      /** @description The inventory entry as it is now. */
      200: {
        headers: {
          'X-Request-Id': components['headers']['requestId'];
          'Cache-Control': components['headers']['cacheable'];
          Vary: components['headers']['vary'];
          'X-RateLimit-Limit': components['headers']['rateLimitLimit'];
          'X-RateLimit-Remaining': components['headers']['rateLimitRemaining'];
          'X-RateLimit-Reset': components['headers']['rateLimitReset'];
          'RateLimit-Policy': components['headers']['rateLimitPolicy'];
          RateLimit: components['headers']['rateLimit'];
          ETag: components['headers']['etag'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "petId": 42,
           *       "quantity": 3,
           *       "status": "available"
           *     }
           */
          'application/json': components['schemas']['InventoryItem'];
        };
      };
      400: components['responses']['BadRequest'];
      401: components['responses']['Unauthorized'];
      403: components['responses']['Forbidden'];
      404: components['responses']['NotFound'];
      405: components['responses']['MethodNotAllowed'];
      406: components['responses']['NotAcceptable'];
      412: components['responses']['PreconditionFailed'];
      413: components['responses']['PayloadTooLarge'];
      415: components['responses']['UnsupportedMediaType'];
      429: components['responses']['TooManyRequests'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
}
