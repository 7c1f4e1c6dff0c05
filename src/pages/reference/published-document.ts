import { LruMap } from '../../domain/lru-map.ts';
import { readYaml, type OpenApiDocument } from '../../rest/openapi/document.ts';
import { entityTagOf } from '../../rest/entity-tag.ts';
import type { PublicText } from '../public-text.ts';

/** Where the code samples of the document send their requests; a published document has its own address there. */
const writtenAddress = 'http://127.0.0.1:4000';

/** The document as clients get it, for a REST layer below `prefix`. */
export function publishedDocument(document: OpenApiDocument, prefix: string): OpenApiDocument {
  const servers = [{ url: prefix || '/', description: 'This server.' }];
  return { ...document, servers };
}

/** The same as YAML. */
export function publishedYaml(prefix: string): string {
  return readYaml().replace(`- url: /\n`, `- url: ${prefix || '/'}\n`);
}

/** How many addresses a text is cached for: clients choose the Host, so the memory needs a bound. */
const cachedAddresses = 4;

/** A published text with the address at which it is read in its samples (`https://store.example/v1`), so that they work as pasted. */
export class AddressedText {
  readonly #mediaType: string;
  readonly #write: () => string;
  readonly #texts = new LruMap<string, PublicText>(cachedAddresses);
  /** The parts between the addresses, computed on first use. */
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
