import { readYaml, type OpenApiDocument } from '../../rest/openapi/document.ts';
import { entityTagOf } from '../../rest/entity-tag.ts';
import type { PublicText } from '../public-text.ts';

/**
 * Where the samples send their requests, and the server is; a published document has its own address there, with the
 * prefix.
 */
export const writtenAddress = 'http://127.0.0.1:4000';

/** The document as clients get it: generators take the base of a client from its server. */
export function publishedDocument(document: OpenApiDocument): OpenApiDocument {
  return { ...document, servers: [{ url: writtenAddress, description: 'This server.' }] };
}

/** The same as YAML. */
export function publishedYaml(): string {
  return readYaml().replace('- url: /\n', `- url: ${writtenAddress}\n`);
}

/**
 * A published text with the address at which it is read in its samples (`https://store.example/v1`), so that they work
 * as pasted.
 *
 * Clients choose the Host: nothing but the address itself is made for each of them, the parts between are the same
 * buffers for all.
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
