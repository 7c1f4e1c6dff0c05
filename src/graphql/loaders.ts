import { hash } from 'node:crypto';

import DataLoader from 'dataloader';

import type { Principal } from '../domain/access/principal.ts';
import { isUnavailable } from '../domain/errors.ts';
import type { Id } from '../domain/id.ts';
import { nouns, type CollectionOf, type NounName } from '../domain/nouns.ts';
import type { ListOptions, ListRequest, Page } from '../domain/page.ts';
import type { Services } from '../domain/services.ts';
import type { Include } from '../domain/store.ts';
import type { NestedQuota } from './nested-quota.ts';

/** A row of a noun, with what was included. */
type FoundRow<Name extends NounName> = Awaited<ReturnType<Services[CollectionOf<Name>]['findMany']>>[number];

interface Finder<Row> {
  findMany(ids: readonly string[], include: Include<string>): Promise<Row[]>;
}

/** A list of rows that name a parent. */
export interface ChildList {
  listPerParent(
    parents: readonly Id[],
    request: ListRequest<object, string>,
    options: ListOptions<string>,
  ): Promise<Page<object>[]>;
  countPerParent(parents: readonly Id[], filter: ChildFilter): Promise<number[]>;
}

type ChildFilter = object | null | undefined;

/** The arguments of a nested connection, and what is included in its rows. */
interface NestedPage {
  readonly request: ListRequest<object, string>;
  readonly include: Include<string>;
}

/** One loader for each set of arguments, so that parents with equal arguments share one statement. */
type NestedLoader<Arguments, Value> = (args: Arguments) => DataLoader<Id, Value>;

/** The loaders of a nested connection, by its parents. */
interface Children {
  /** When its quota is exceeded, one parent gets the error and the others null. */
  readonly page: NestedLoader<NestedPage, Page<object> | null>;
  readonly count: NestedLoader<ChildFilter, number>;
}

/**
 * They batch the loads of one tick of the event loop and cache the rows for one request, or one root mutation. Each is
 * created on first use.
 */
export class Loaders {
  readonly #services: Services;
  readonly #quota: NestedQuota;
  readonly #principal: Principal;
  readonly #rows = new Map<string, DataLoader<string, unknown>>();
  readonly #children = new Map<string, Children>();

  constructor(services: Services, quota: NestedQuota, principal: Principal) {
    this.#services = services;
    this.#quota = quota;
    this.#principal = principal;
  }

  /**
   * Rows by id, with what was included: one loader for each combination of relations, so that each kind of row is read
   * by few statements.
   */
  byId<Name extends NounName>(noun: Name, include: Include<string> = []): DataLoader<string, FoundRow<Name>> {
    const key = include.length === 0 ? noun : `${noun} ${include.join()}`;
    let loader = this.#rows.get(key) as DataLoader<string, FoundRow<Name>> | undefined;
    if (loader === undefined) {
      const service = this.#services[nouns[noun].collection] as Finder<FoundRow<Name>>;
      loader = new DataLoader((ids) => eachAlone(ids, (some) => service.findMany(some, include)));
      this.#rows.set(key, loader);
    }
    return loader;
  }

  /** The rows of a list by their parents, for the field that shows them: `Category.pets`. */
  childrenOf(field: string, listOf: (services: Services) => ChildList): Children {
    let children = this.#children.get(field);
    if (children === undefined) {
      const list = listOf(this.#services);
      children = {
        page: nestedLoader(nameOfPage, async (parents, { request, include }) => {
          const refusal = await this.#quota.count(this.#principal, field, parents.length);
          if (refusal === undefined) return list.listPerParent(parents, request, { include });
          return parents.map((_, index) => (index === 0 ? refusal : null));
        }),
        count: nestedLoader(nameOf, (parents, filter) => list.countPerParent(parents, filter)),
      };
      this.#children.set(field, children);
    }
    return children;
  }
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

/** By their names, so that fields with equal arguments share a loader. */
function nestedLoader<Arguments, Value>(
  nameOfArguments: (args: NoInfer<Arguments>) => ArgumentsName,
  loadMany: (parentIds: readonly Id[], args: Arguments) => Promise<readonly (Value | Error)[]>,
): NestedLoader<Arguments, Value> {
  const loaders = new Map<ArgumentsName, DataLoader<Id, Value>>();
  return (args) => {
    const name = nameOfArguments(args);
    const loader = loaders.get(name) ?? new DataLoader((parentIds) => loadMany(parentIds, args));
    loaders.set(name, loader);
    return loader;
  };
}

/** What stands for arguments: their text or its hash; for long ones, which are rarely equal, they themselves. */
type ArgumentsName = string | object;

function nameOfPage({ request, include }: NestedPage): ArgumentsName {
  const name = nameOf(request);
  return typeof name === 'string' ? `${include.join()} ${name}` : name;
}

const names = new WeakMap<object, ArgumentsName>();
const maxNameLength = 256;
/** More than a client needs: the 1,000 ids of a filter have at most 19,000. */
const maxNamedLength = 2 ** 15;

/** A short name, made once for all parents. */
function nameOf(args: object | null | undefined): ArgumentsName {
  if (args === null || args === undefined) return '';
  let name = names.get(args);
  if (name === undefined) {
    name = lengthLeft(maxNamedLength, args) < 0 ? args : shortened(JSON.stringify(args));
    names.set(args, name);
  }
  return name;
}

function shortened(name: string): string {
  return name.length > maxNameLength ? hash('sha256', name) : name;
}

/** What is left of a length after a value. It stops below zero, since the value may be as long as a request. */
function lengthLeft(length: number, value: unknown): number {
  if (typeof value === 'string') return length - value.length;
  let left = length - 1;
  if (typeof value !== 'object' || value === null) return left;
  for (const each of Array.isArray(value) ? (value as unknown[]) : Object.values(value)) {
    left = lengthLeft(left, each);
    if (left < 0) break;
  }
  return left;
}
