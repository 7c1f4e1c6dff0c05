import { BoundedMap } from '../../domain/bounded-map.ts';
import type { OpenApiDocument } from '../../rest/document.ts';
import { entityTagOf } from '../../rest/entity-tag.ts';
import type { PublicText } from '../public-text.ts';

/** Where the samples of `openapi.yaml` send their requests; a published document has its own address there. */
const writtenAddress = 'http://127.0.0.1:4000';

/** The formats that readers of OpenAPI know. Our own only tell the program which rule of the domain is meant. */
const publicFormats: ReadonlySet<unknown> = new Set(['int32', 'int64', 'date-time', 'uri-reference']);

/** The document as clients get it, for a REST layer below `prefix`. */
export function publishedDocument(document: OpenApiDocument, prefix: string): OpenApiDocument {
  const servers = [{ url: prefix || '/', description: 'This server.' }];
  return { ...(withoutPrivateFormats(document) as OpenApiDocument), servers };
}

/** How many addresses a text is kept for: clients choose the Host, so they would decide how much memory it takes. */
const keptAddresses = 4;

/** A published text with the address at which it is read in its samples (`https://store.example/v1`), so that they work as pasted. */
export class AddressedText {
  readonly #mediaType: string;
  readonly #write: () => string;
  readonly #texts = new BoundedMap<string, PublicText>(keptAddresses);
  /** What stands between the addresses; written when somebody reads it for the first time. */
  #parts: readonly string[] | undefined;
  #tag = '';

  constructor(mediaType: string, write: () => string) {
    this.#mediaType = mediaType;
    this.#write = write;
  }

  at(address: string): PublicText {
    const known = this.#texts.get(address);
    if (known !== undefined) return known;
    const parts = (this.#parts ??= this.#split());
    const text = {
      mediaType: this.#mediaType,
      body: Buffer.from(parts.join(address)),
      tag: entityTagOf(`${this.#tag} ${address}`),
    };
    this.#texts.set(address, text);
    return text;
  }

  #split(): readonly string[] {
    const text = this.#write();
    this.#tag = entityTagOf(text);
    return text.split(writtenAddress);
  }
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
