import type { OpenApiDocument } from '../../rest/document.ts';

/** Where the samples of `openapi.yaml` send their requests; a published document has its own address there. */
const writtenAddress = 'http://127.0.0.1:4000';

/** The formats that readers of OpenAPI know. Our own only tell the program which rule of the domain is meant. */
const publicFormats: ReadonlySet<unknown> = new Set(['int32', 'int64', 'date-time', 'uri-reference']);

/** The document as clients get it, for a REST layer below `prefix`. */
export function publishedDocument(document: OpenApiDocument, prefix: string): OpenApiDocument {
  const servers = [{ url: prefix || '/', description: 'This server.' }];
  return { ...(withoutPrivateFormats(document) as OpenApiDocument), servers };
}

/** The text of a published document as it is read at `address` (`https://store.example/v1`), so that its samples work as pasted. */
export function textAt(address: string, text: string): string {
  return text.replaceAll(writtenAddress, address);
}

function withoutPrivateFormats(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withoutPrivateFormats);
  if (typeof node !== 'object' || node === null) return node;
  return Object.fromEntries(
    Object.entries(node)
      .filter(([key, value]) => key !== 'format' || typeof value !== 'string' || publicFormats.has(value))
      .map(([key, value]) => [key, withoutPrivateFormats(value)]),
  );
}
