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

/**
 * A published text with the address at which it is read in its samples (`https://store.example/v1`), so that they work as pasted.
 *
 * Clients choose the Host: nothing but the address itself is made for each of them, the parts between are the same buffers for all.
 */
export class AddressedText {
  readonly #mediaType: string;
  readonly #write: () => string;
  /** The parts between the addresses, made on first use. */
  #parts: readonly Buffer[] | undefined;
  #tag = '';

  constructor(mediaType: string, write: () => string) {
    this.#mediaType = mediaType;
    this.#write = write;
  }

  at(address: string): PublicText {
    const [first, ...others] = (this.#parts ??= this.#split());
    const between = Buffer.from(address);
    return {
      mediaType: this.#mediaType,
      parts: [first as Buffer, ...others.flatMap((part) => [between, part])],
      tag: entityTagOf(`${this.#tag} ${address}`),
    };
  }

  #split(): readonly Buffer[] {
    const text = this.#write();
    this.#tag = entityTagOf(text);
    return text.split(writtenAddress).map((part) => Buffer.from(part));
  }
}
