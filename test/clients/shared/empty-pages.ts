import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json, text } from 'node:stream/consumers';

/** The cursor of an empty page begins so; the page after it is that of the cursor behind. */
const later = 'later:';

interface Body {
  readonly variables?: Readonly<Record<string, unknown>>;
}

interface Result {
  readonly data?: Readonly<Record<string, { pageInfo?: object } | null>> | null;
}

/**
 * Stands before the service: before each page of a list comes an empty one, with `hasNextPage` and a cursor of its own,
 * as from a list of which a filter wants few rows among hundreds of thousands.
 */
export class EmptyPages {
  isOn = true;
  readonly #origin: string;
  readonly #server = createServer((received, response) => {
    this.#serve(received, response).catch(() => response.destroy());
  });

  private constructor(origin: string) {
    this.#origin = origin;
  }

  static async start(origin: string): Promise<EmptyPages> {
    const pages = new EmptyPages(origin);
    pages.#server.listen(0, '127.0.0.1');
    await once(pages.#server, 'listening');
    return pages;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #serve(received: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, url, headers } = received;
    const { 'content-length': _length, ...others } = headers;
    const body = url === '/graphql' && method === 'POST' ? ((await json(received)) as Body) : undefined;
    const after = body?.variables?.['after'];
    const isSecond = typeof after === 'string' && after.startsWith(later);
    const passed = request(new URL(url ?? '/', this.#origin), { method, headers: others, agent: false });
    response.once('close', () => passed.destroy());
    if (body === undefined) received.pipe(passed);
    else passed.end(JSON.stringify(isSecond ? { ...body, variables: { ...body.variables, ...goneOn(after) } } : body));
    const [answer] = (await once(passed, 'response')) as [IncomingMessage];
    response.writeHead(answer.statusCode ?? 502, withoutLength(answer.headers));
    if (!this.isOn || isSecond || body === undefined || !/[/+]json/.test(answer.headers['content-type'] ?? ''))
      answer.pipe(response).once('error', () => response.destroy());
    else response.end(emptied(await text(answer), after));
  }
}

function withoutLength({ 'content-length': _length, ...headers }: IncomingMessage['headers']) {
  return headers;
}

function goneOn(after: string): { readonly after: string | null } {
  return { after: after.slice(later.length) || null };
}

/** A result without a list is passed on as it is. */
function emptied(result: string, after: unknown): string {
  const { data } = JSON.parse(result) as Result;
  const cursor = `${later}${typeof after === 'string' ? after : ''}`;
  const lists = Object.entries(data ?? {}).flatMap(([name, list]) => {
    if (list?.pageInfo === undefined) return [];
    const rows = Object.keys(list).filter((key) => key === 'edges' || key === 'nodes');
    const pageInfo = { ...list.pageInfo, hasNextPage: true, endCursor: cursor };
    return [[name, { ...list, ...Object.fromEntries(rows.map((key) => [key, []])), pageInfo }] as const];
  });
  if (lists.length === 0) return result;
  return JSON.stringify({ ...JSON.parse(result), data: { ...data, ...Object.fromEntries(lists) } });
}
