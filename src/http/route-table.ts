import type { RouteOptions } from 'fastify';
import findMyWay, { type HTTPMethod } from 'find-my-way';

import type { DeprecatedCoordinate } from '../domain/requests/request.store.ts';
import { HttpError } from './error-table.ts';
import type { ErrorFormat } from './failure-response.ts';
import type { Scope } from '../domain/access/scope.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Fastify makes a new object whenever `routeOptions` is read. */
    route: MatchedRoute;
  }
  interface FastifyContextConfig extends RouteConfig {}
}

/** The headers of a response. */
export type DeprecationNotice = (parameters: Readonly<Record<string, string>>) => Readonly<Record<string, string>>;

export interface RouteConfig {
  /** A public page, outside the API: no key, no quota, and errors as plain text. The paths below it are public too. */
  isPublic?: boolean;
  /** The format of its errors; by default the Error object of REST, and plain text on a public page. */
  errorFormat?: ErrorFormat;
  /** No cache may store a response of it. */
  isNeverStored?: boolean;
  /** Also served under overload: probes must see the state of the process. */
  isServedUnderOverload?: boolean;
  /** The scopes that the key must have; without one any valid key will do. Each route of the API says so. */
  scopes?: readonly Scope[];
  /** The cost depends on the body: the route spends it by `request.meter`. */
  isMeteredByRoute?: boolean;
  /** The operation's name in the metrics; the method and the route by default. */
  operationId?: string;
  /** The route is deprecated; every response of it has the deprecation headers. */
  deprecation?: DeprecationNotice;
  /** What is deprecated of it, for the count of its uses. */
  deprecated?: readonly DeprecatedCoordinate[];
}

export interface MatchedRoute {
  /** Undefined where there is none. */
  readonly url: string | undefined;
  readonly config: RouteConfig;
  /** Of the path, by name. */
  readonly params: Readonly<Record<string, string>>;
}

type StoredRoute = Omit<MatchedRoute, 'params'>;

/**
 * All routes, by path and method: Fastify's own router can't list the methods of a path, which 405, `Allow` and OPTIONS
 * need.
 *
 * The table matches paths with the router that Fastify uses, in an instance of its own. Paths are as `pathOf` has them.
 */
export class RouteTable {
  readonly #router;
  readonly #methods = new Set<string>();
  readonly #publicUrls = new Set<string>();

  /** `options` are those of Fastify's router. */
  constructor(options: { readonly maxParamLength: number }) {
    this.#router = findMyWay(options);
  }

  add({ url, method, config = {} }: Pick<RouteOptions, 'url' | 'method' | 'config'>): void {
    const route: StoredRoute = { url, config };
    for (const each of [method].flat()) {
      this.#methods.add(each);
      this.#router.on(each as HTTPMethod, url, () => undefined, route);
    }
    if (config.isPublic === true) this.#publicUrls.add(url);
  }

  /** The methods of a path, none for an unknown one. `*`, of OPTIONS, is the whole server. */
  methodsOf(path: string): readonly string[] {
    const methods = [...this.#methods].filter((method) => path === '*' || this.find(method, path) !== undefined);
    return methods.length === 0 ? [] : [...new Set([...methods, 'OPTIONS'])].toSorted();
  }

  /** The route of a path, also of one that can't be decoded and never reaches Fastify's router. */
  find(method: string, path: string): MatchedRoute | undefined {
    // The router takes any other target for an absolute one.
    if (!path.startsWith('/')) return undefined;
    // The path is decoded already, or can't be: in either case its `%` means itself.
    const found = this.#router.find(method as HTTPMethod, path.replaceAll('%', '%25'));
    if (found === null) return undefined;
    // A value would be undefined only for an optional parameter, and no path has one.
    const params = found.params as MatchedRoute['params'];
    return isWhole(params) ? { ...(found.store as StoredRoute), params } : undefined;
  }

  /** True for the public pages and every path below them. */
  isPublic(path: string): boolean {
    return (
      this.#routesOf(path).some(({ config }) => config.isPublic === true) ||
      [...this.#publicUrls].some((url) => url !== '/' && path.startsWith(`${url}/`))
    );
  }

  errorFormatOf(path: string): ErrorFormat {
    const route = this.#routesOf(path).find(({ config }) => config.errorFormat !== undefined);
    return route?.config.errorFormat ?? (this.isPublic(path) ? 'text' : 'rest');
  }

  /** Why a request has no route: 404, or 405 with the methods that its path does have. */
  unmatched(method: string, path: string): HttpError {
    const methods = this.methodsOf(path);
    if (methods.length === 0) return nothingAt(path);
    const allow = methods.join(', ');
    return new HttpError('METHOD_NOT_ALLOWED', `${method} is not possible here, only ${allow}.`, {
      headers: { allow },
    });
  }

  #routesOf(path: string): readonly MatchedRoute[] {
    return [...this.#methods].flatMap((method) => this.find(method, path) ?? []);
  }
}

export function nothingAt(path: string): HttpError {
  return new HttpError('NOT_FOUND', `There is nothing at ${JSON.stringify(shorten(path))}.`);
}

/** False for `/pets/`, which names no pet: 404 whatever the method, though the router has a route for it. */
export function isWhole(params: MatchedRoute['params']): boolean {
  return !Object.values(params).includes('');
}

/** Most targets are only a path, without anything to decode. */
const plainPath = /^\/[^?#%]*$/;

/** The path of a request target as the router reads it: without the query, decoded but for `%2F` and the like. */
export function pathOf(target: string): string {
  if (plainPath.test(target)) return target;
  const path = target.replace(/^https?:\/\/[^/?#]*/i, '').replace(/[?#].*$/s, '') || '/';
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}

function shorten(text: string): string {
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}
