import type { FilterRequest } from './filter.ts';
import type { Id } from './id.ts';
import { type List, type Page, type PageArguments, pageOf, parseListRequest } from './page.ts';
import type { ReadStore } from './store.ts';

interface Kind<Row, Of extends List<Row, 'ID'>> {
  readonly list: Of;
  /** The property that names a row's parent. */
  readonly property: keyof Row & string;
}

/** Rows of parents that nobody changes, such as attempts or a history: each parent's, latest first. */
export class LatestFirst<Row, Of extends List<Row, 'ID'>> {
  readonly #store: Pick<ReadStore<Row, Of>, 'pagePerParent' | 'countPerParent'>;
  readonly #kind: Kind<Row, Of>;

  constructor(store: Pick<ReadStore<Row, Of>, 'pagePerParent' | 'countPerParent'>, kind: Kind<Row, Of>) {
    this.#store = store;
    this.#kind = kind;
  }

  async listPerParent(
    ids: readonly Id[],
    { first, after, filter: given }: Pick<PageArguments, 'first' | 'after'> & FilterArgument<Of>,
  ): Promise<Page<Row>[]> {
    const { list, property } = this.#kind;
    const orderBy = { field: 'ID', direction: 'desc' } as const;
    const { filter, keyset } = parseListRequest<Row, 'ID', Of['filter']>(list, {
      first,
      after,
      filter: given,
      orderBy,
    });
    const slices = await this.#store.pagePerParent({ property, ids }, filter, keyset);
    return slices.map((slice) => pageOf<Row, 'ID'>(list.sorting, keyset, slice));
  }

  async countPerParent(ids: readonly Id[], given?: FilterArgument<Of>['filter']): Promise<number[]> {
    const { list, property } = this.#kind;
    const { filter } = parseListRequest<Row, 'ID', Of['filter']>(list, { filter: given });
    return this.#store.countPerParent({ property, ids }, filter);
  }
}

interface FilterArgument<Of extends List> {
  readonly filter?: FilterRequest<Of['filter']> | null | undefined;
}
