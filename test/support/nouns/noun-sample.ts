/** A request over REST that makes a row, or gives one its values. */
export interface Preparation {
  readonly method: 'POST' | 'PATCH';
  readonly url: string;
  readonly body: object;
}

/**
 * What brings the row `:id` into a state that an operation refuses with 409, and what the operation then sends:
 * `:categoryId` is a field of that body. A creation has no row yet.
 */
export interface Conflict {
  readonly before: readonly Preparation[];
  readonly body?: object;
}

/** What the tests know of a noun that can't be derived from `src`. */
export interface NounSample {
  /**
   * On an empty store they make two rows, with what they refer to. In every order but that of the ids the second comes
   * first.
   */
  readonly rows: readonly Preparation[];
  /** For each field of the GraphQL filter a literal that matches the first of the two rows only. */
  readonly filters: Readonly<Record<string, string>>;
  /** The same for fields that can match the second row only. */
  readonly filtersOfSecond?: Readonly<Record<string, string>>;
  /** For each parameter of REST's list, besides those of paging, a text that matches the first row only. */
  readonly parameters?: Readonly<Record<string, string>>;
  /**
   * For operations that a new row refuses, what brings the row `:id` into a state in which they succeed; `:petId` is the
   * field of the body that is sent then.
   */
  readonly ready?: Readonly<Record<string, readonly Preparation[]>>;
  /** For each operation that documents 409 for another reason than a key in use, or rows of others that name the row. */
  readonly conflicts?: Readonly<Record<string, Conflict>>;
  /** By properties whose text has a rule of its own, values that both protocols refuse. */
  readonly refused?: Readonly<Record<string, readonly string[]>>;
}
