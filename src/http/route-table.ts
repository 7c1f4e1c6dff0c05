import type { RouteOptions } from 'fastify';

import { HttpError } from './error-table.ts';
import type { ErrorFormat } from './failure-response.ts';
import type { RouteConfig } from './route-config.ts';

/** Where a request belongs that never gets as far as the router. */
export interface KnownRoute {
  readonly url: string;
  readonly config: RouteConfig;
  /** Of the path, by name. */
  readonly params: Readonly<Record<string, string>>;
}

interface Row {
  readonly url: string;
  readonly pattern: RegExp;
  readonly methods: string[];
  readonly configs: Map<string, RouteConfig>;
  readonly isPublic: boolean;
  readonly errorFormat: ErrorFormat | undefined;
}

/** Every path that there is, with its methods: what Fastify's own router doesn't tell, but 405, `Allow` and OPTIONS need. */
export class RouteTable {
  readonly #rows = new Map<string, Row>();

  add({ url, method, config }: Pick<RouteOptions, 'url' | 'method' | 'config'>): void {
    // Not a path, but what @fastify/cors answers preflights of any path with.
    if (url === '*') return;
    const row = this.#rows.get(url) ?? {
      url,
      pattern: patternOf(url),
      methods: ['OPTIONS'],
      configs: new Map(),
      isPublic: config?.isPublic === true,
      errorFormat: config?.errorFormat,
    };
    const methods = [method].flat();
    row.methods.push(...methods);
    for (const each of methods) row.configs.set(each, config ?? {});
    this.#rows.set(url, row);
  }

  /** The methods of a path, none for an unknown one. `*`, of OPTIONS, is the whole server. */
  methodsOf(path: string): readonly string[] {
    const rows = [...this.#rows.values()].filter(({ pattern }) => path === '*' || pattern.test(path));
    return [...new Set(rows.flatMap(({ methods }) => methods))].toSorted();
  }

  /** The route that the router would have chosen, as far as a path shows that it may not even be able to decode. */
  find(method: string, path: string): KnownRoute | undefined {
    for (const { url, pattern, configs } of this.#rows.values()) {
      const config = configs.get(method);
      const match = config === undefined ? null : pattern.exec(path);
      if (config !== undefined && match !== null) return { url, config, params: match.groups ?? {} };
    }
    return undefined;
  }

  /** True for the public pages and what would be below them. */
  isPublic(path: string): boolean {
    return [...this.#rows.values()].some(
      ({ url, pattern, isPublic }) => isPublic && (pattern.test(path) || (url !== '/' && path.startsWith(`${url}/`))),
    );
  }

  errorFormatOf(path: string): ErrorFormat {
    const row = [...this.#rows.values()].find(
      ({ errorFormat, pattern }) => errorFormat !== undefined && pattern.test(path),
    );
    return row?.errorFormat ?? (this.isPublic(path) ? 'text' : 'rest');
  }

  /** Why a request has no route: 404, or 405 with the methods that its path does have. */
  unmatched(method: string, path: string): HttpError {
    const methods = this.methodsOf(path);
    if (methods.length === 0)
      return new HttpError('NOT_FOUND', `There is nothing at ${JSON.stringify(shorten(path))}.`);
    const allow = methods.join(', ');
    return new HttpError('METHOD_NOT_ALLOWED', `${method} is not possible here, only ${allow}.`, {
      headers: { allow },
    });
  }
}

/** Most targets are nothing but a path that says what it means. */
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

function patternOf(url: string): RegExp {
  const source = url
    .split('/')
    .map((segment) =>
      segment.startsWith(':')
        ? `(?<${segment.slice(1)}>[^/]+)`
        : segment.replace(/[.+$()]/g, '\\$&').replaceAll('*', '.*'),
    )
    .join('/');
  return new RegExp(`^${source}$`, 's');
}

function shorten(text: string): string {
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}
