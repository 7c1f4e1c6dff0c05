import type { FastifyRequest } from 'fastify';

import { entityTagOf } from '../rest/entity-tag.ts';
import type { PublicText } from './public-text.ts';

/** Where written samples send their requests; a published document has its own address there, with the prefix. */
export const writtenAddress = 'http://127.0.0.1:4000';

/** A text with the address at which it is read, which clients choose: only that is made anew for each of them. */
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

/** A host with or without a port, as it may be written into a shell command. */
const plainHost = /^(?:[\w.-]{1,253}|\[[\da-f:.]{2,45}\])(?::\d{1,5})?$/i;

/** Forwarded headers count only from a trusted peer (Fastify sees to that), and only as a scheme and a host. */
export function ownAddress(request: FastifyRequest): string {
  const scheme = request.protocol.toLowerCase();
  const hosts = [request.host, request.raw.headers.host ?? ''];
  const own = request.raw.socket as { readonly encrypted?: boolean };
  const isWebScheme = scheme === 'http' || scheme === 'https';
  const host = hosts.find((each) => plainHost.test(each)) ?? 'localhost';
  return `${isWebScheme ? scheme : own.encrypted === true ? 'https' : 'http'}://${host}`;
}
