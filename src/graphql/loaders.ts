import DataLoader from 'dataloader';

import type { Principal } from '../domain/access/principal.ts';
import { isUnavailable } from '../domain/errors.ts';
import type { Id } from '../domain/id.ts';
import {
  idOf,
  nouns,
  type CollectionOf,
  type NounName,
  type ReferenceOf,
  referredBy,
  type ReferredBy,
  type RowOf,
} from '../domain/nouns.ts';
import type { ListOptions, ListRequest, Page } from '../domain/page.ts';
import type { Services } from '../domain/services.ts';
import type { Include, Parents } from '../domain/store.ts';
import type { NestedQuota } from './nested-quota.ts';

/** A row of a noun, with what was included. */
type FoundRow<Name extends NounName> = NonNullable<
  Awaited<ReturnType<Services[CollectionOf<Name>]['findMany']>>[number]
>;

interface Finder<Row> {
  findMany(ids: readonly string[], include: Include<string>): Promise<Row[]>;
}

/** A list of rows, each of which has a parent: in a noun's service, the row that a property names. */
export interface ChildList<Row, Of = readonly Id[]> {
  listPerParent(parents: Of, request: ListRequest<object, string>, options: ListOptions<string>): Promise<Page<Row>[]>;
  countPerParent(parents: Of, filter: ListRequest<object, string>['filter']): Promise<number[]>;
}

/** The loaders of one request, or one root mutation: they batch the loads of a tick, and cache the rows. */
export class Loaders {
  readonly #services: Services;
  readonly #quota: NestedQuota;
  readonly #principal: Principal;
  readonly #rows = new Map<string, DataLoader<string, unknown>>();
  readonly #children = new Map<string, unknown>();
  readonly #values = new Map<string | object, unknown>();

  constructor(services: Services, quota: NestedQuota, principal: Principal) {
    this.#services = services;
    this.#quota = quota;
    this.#principal = principal;
  }

  /** One loader for each combination of relations, so that each kind of row is read by few statements. */
  byId<Name extends NounName>(noun: Name, include: Include<string> = []): DataLoader<string, FoundRow<Name> | null> {
    const key = include.length === 0 ? noun : `${noun} ${include.join()}`;
    let loader = this.#rows.get(key) as DataLoader<string, FoundRow<Name> | null> | undefined;
    if (loader === undefined) {
      // Asked for when it is needed: a service that is refused fails each load.
      const service = () => this.#services[nouns[noun].collection] as Finder<FoundRow<Name> | null>;
      loader = new DataLoader((ids) => eachAlone(ids, async (some) => service().findMany(some, include)));
      this.#rows.set(key, loader);
    }
    return loader;
  }

  /** The rows of a noun by the row that one of its references names: `childrenOf('pet', 'categoryId')`. */
  childrenOf<Child extends NounName, Reference extends ReferenceOf<Child>>(
    child: Child,
    property: Reference,
  ): Children<FoundRow<Child>, RowOf<ReferredBy<Child, Reference>>> {
    const { collection } = nouns[child];
    const parent = referredBy(child, property);
    const field = `${nouns[parent].typeName}.${collection}`;
    return this.#childrenAs(
      `${child}.${property}`,
      field,
      (row) => idOf(parent, row),
      (services) => {
        const service = services[collection] as ChildList<FoundRow<Child>, Parents<Record<string, unknown>>>;
        return {
          listPerParent: (ids, request, options) => service.listPerParent({ property, ids }, request, options),
          countPerParent: (ids, filter) => service.countPerParent({ property, ids }, filter),
        };
      },
    );
  }

  children<Row>(field: string, listOf: (services: Services) => ChildList<Row>): Children<Row, { readonly id: Id }> {
    return this.#childrenAs(field, field, ({ id }: { readonly id: Id }) => id, listOf);
  }

  /** A value of each row of a list, for the field that shows it, or for its arguments: all by one call. */
  ofEach<Value>(
    field: string | object,
    load: (services: Services, ids: readonly Id[]) => Promise<Value[]>,
  ): DataLoader<Id, Value> {
    const known = this.#values.get(field) as DataLoader<Id, Value> | undefined;
    const loader = known ?? new DataLoader<Id, Value>((ids) => load(this.#services, ids));
    this.#values.set(field, loader);
    return loader;
  }

  #childrenAs<Row, Parent>(
    key: string,
    field: string,
    idOfParent: (parent: Parent) => Id,
    listOf: (services: Services) => ChildList<Row>,
  ): Children<Row, Parent> {
    const known = this.#children.get(key) as Children<Row, Parent> | undefined;
    if (known !== undefined) return known;
    const children = new Children(listOf(this.#services), idOfParent, (parents) =>
      this.#quota.count(this.#principal, field, parents),
    );
    this.#children.set(key, children);
    return children;
  }
}

/** Loaders by the field's arguments, which the executor makes once: all parents share a statement. */
export class Children<Row, Parent> {
  readonly idOf: (parent: Parent) => Id;
  readonly #list: ChildList<Row>;
  readonly #countParents: (parents: number) => Promise<Error | undefined>;
  readonly #pages = new Map<object, DataLoader<Id, Page<Row> | null>>();
  readonly #counts = new Map<object, DataLoader<Id, number>>();

  constructor(
    list: ChildList<Row>,
    idOfParent: (parent: Parent) => Id,
    countParents: (parents: number) => Promise<Error | undefined>,
  ) {
    this.idOf = idOfParent;
    this.#list = list;
    this.#countParents = countParents;
  }

  /** Pages by the field's arguments. When its quota is exceeded, one parent gets the error and the others null. */
  page(args: object, request: ListRequest<object, string>, include: Include<string>): DataLoader<Id, Page<Row> | null> {
    return loaderIn(this.#pages, args, (parents) =>
      this.#unlessRefused(parents, () => this.#list.listPerParent(parents, request, { include })),
    );
  }

  count(args: ListRequest<object, string>): DataLoader<Id, number> {
    return loaderIn(this.#counts, args, (parents) => this.#list.countPerParent(parents, args.filter));
  }

  async #unlessRefused<Value>(
    parents: readonly Id[],
    load: () => Promise<Value[]>,
  ): Promise<readonly (Value | Error | null)[]> {
    const refusal = await this.#countParents(parents.length);
    return refusal === undefined ? load() : parents.map((_, index) => (index === 0 ? refusal : null));
  }
}

function loaderIn<Value>(
  loaders: Map<object, DataLoader<Id, Value>>,
  args: object,
  loadMany: (parents: readonly Id[]) => Promise<readonly (Value | Error)[]>,
): DataLoader<Id, Value> {
  const loader = loaders.get(args) ?? new DataLoader(loadMany);
  loaders.set(args, loader);
  return loader;
}

/** A row that can't be read fails only the fields that need it. */
async function eachAlone<Row>(
  ids: readonly string[],
  findMany: (ids: readonly string[]) => Promise<Row[]>,
): Promise<(Row | Error)[]> {
  try {
    return await findMany(ids);
  } catch (error) {
    if (ids.length === 1 || !isUnavailable(error) || !error.isOfOneRow) throw error;
    return Promise.all(
      ids.map((id) =>
        findMany([id]).then(
          ([row]) => row as Row,
          (failure: unknown) => failure as Error,
        ),
      ),
    );
  }
}
