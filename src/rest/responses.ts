import { idOf, nouns, type NounName, type RowOf } from '../domain/nouns.ts';
import { inBatches, walkBatchBytes, type Page, type PageArguments } from '../domain/page.ts';
import { entityTagOf } from './entity-tag.ts';
import type { Call, RestResponse } from './handler.ts';
import type { OperationId } from './openapi/document.ts';

interface TextResponse extends RestResponse {
  readonly body: string;
}

/** A single resource with its entity tag. */
export function resource(body: object): RestResponse {
  const text = JSON.stringify(body);
  return { status: 200, headers: { etag: entityTagOf(text) }, body: text };
}

/** A row that was added, with the address of it. */
export function created<Name extends NounName>(
  { prefix }: Pick<Call<OperationId>, 'prefix'>,
  noun: Name,
  row: RowOf<Name>,
  bodyOf: (row: RowOf<Name>) => object,
): RestResponse {
  const { headers, body } = resource(bodyOf(row));
  const location = `${prefix}${nouns[noun].path}/${idOf(noun, row)}`;
  return { status: 201, headers: { ...headers, location }, body };
}

export const deleted: RestResponse = { status: 204, headers: {}, body: undefined };

type ListCall = Pick<Call<'listOrders'>, 'url' | 'query' | 'isHead' | 'memory' | 'enterTick'>;

/** A page of a list. `Link` names the next page while there is one (RFC 8288). */
export function page<Row>(
  { url, query }: Pick<ListCall, 'url' | 'query'>,
  rows: Page<Row>,
  bodyOf: (row: Row) => object,
): TextResponse {
  const last = rows.rows.at(-1);
  const body = JSON.stringify(rows.rows.map(bodyOf));
  if (!rows.hasNextPage || last === undefined) return { status: 200, headers: {}, body };
  return { status: 200, headers: { link: linkToNext(url, query, rows.cursorOf(last)) }, body };
}

/** The `Link` to the page after the cursor, with the other parameters as they are. */
export function linkToNext(url: string, query: object, cursor: string): string {
  const parameters = Object.entries({ ...query, cursor });
  const next = parameters.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&');
  return `<${url}?${next}>; rel="next"`;
}

/** The tag of a single row is that of the resource: it can be sent as `If-Match` with a change of it. */
export function selection<Row>(call: ListCall, rows: Page<Row>, bodyOf: (row: Row) => object): RestResponse {
  const response = page(call, rows, bodyOf);
  if (rows.hasNextPage) return response;
  const [first, ...others] = rows.rows;
  const isSingle = first !== undefined && others.length === 0;
  const etag = entityTagOf(isSingle ? JSON.stringify(bodyOf(first)) : response.body);
  return { ...response, headers: { etag } };
}

/** A row is in memory so many times until its response is complete: as an object, and as JSON text or its bytes. */
const copies = 2;

/** The batch that is sent and the next one, each with its copies. */
const streamBytes = 2 * copies * walkBatchBytes;

/** A collection is written in texts of about this length: V8 gives those of twice the length memory of their own. */
const textLength = 32 * 1024;

/** The length that rows are taken for until the first text tells it. */
const firstRowLength = 2 * 1024;

/** Memory for a page of `maxRowBytes` a row is reserved before it is read, a stream's with its first chunk. */
export async function collection<Row>(
  call: ListCall,
  list: (request: PageArguments) => Promise<Page<Row>>,
  bodyOf: (row: Row) => object,
  maxRowBytes: number,
): Promise<RestResponse> {
  const { limit, cursor } = call.query;
  if (limit !== undefined) {
    await call.memory.reserve(limit * maxRowBytes * copies);
    const response = page(call, await list({ first: limit, after: cursor }), bodyOf);
    call.memory.hold(Buffer.byteLength(response.body));
    return response;
  }
  return {
    status: 200,
    headers: {},
    body: call.isHead ? undefined : arrayInChunks(call, inBatches(list, cursor), bodyOf),
  };
}

async function* arrayInChunks<Row>(
  { memory, enterTick }: Pick<ListCall, 'memory' | 'enterTick'>,
  batches: AsyncIterable<readonly Row[]>,
  bodyOf: (row: Row) => object,
): AsyncGenerator<string, void> {
  await memory.reserve(streamBytes);
  memory.keep(streamBytes);
  let text = '[';
  let separator = '';
  let rowLength = firstRowLength;
  for await (const batch of batches) {
    if (batch.length === 0) continue;
    await enterTick();
    for (let from = 0; from < batch.length;) {
      const rows = batch.slice(from, from + Math.ceil((textLength - text.length) / rowLength));
      const json = JSON.stringify(rows.map(bodyOf));
      text += separator + json.slice(1, -1);
      separator = ',';
      from += rows.length;
      rowLength = json.length / rows.length;
      if (text.length < textLength) continue;
      yield text;
      text = '';
    }
  }
  yield text + ']';
}
