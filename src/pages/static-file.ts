import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';

import type { FastifyReply, FastifyRequest } from 'fastify';

import { entityTagOf, isKnown } from '../rest/entity-tag.ts';

const mediaTypes: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.ttf': 'font/ttf',
};

/** The codings that the build compresses files with, the best one first, and the endings of their names. */
const codings = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;

interface Contents {
  /** Weak: it names the file, in whichever coding it is sent. */
  readonly etag: string;
  /** By coding; `identity` is always there. */
  readonly bodies: ReadonlyMap<string, Buffer>;
}

/** A file in memory: one buffer for each coding, for all clients, read when the first one asks for it. */
export class StaticFile {
  readonly #path: string;
  #reading: Promise<Contents> | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  async send(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    this.#reading ??= readContents(this.#path).catch((error: unknown) => {
      this.#reading = undefined;
      throw error;
    });
    const { etag, bodies } = await this.#reading;
    void reply.headers({ vary: 'accept-encoding', etag });
    if (isKnown(request.headers, etag)) return reply.code(304).send();
    const coding = preferredCoding(request.headers['accept-encoding'], bodies);
    if (coding !== 'identity') void reply.header('content-encoding', coding);
    return reply.type(mediaTypes[extname(this.#path)] ?? 'application/octet-stream').send(bodies.get(coding));
  }
}

async function readContents(path: string): Promise<Contents> {
  const plain = await readFile(path);
  const bodies = new Map([['identity', plain]]);
  for (const [coding, ending] of codings) {
    if (existsSync(path + ending)) bodies.set(coding, await readFile(path + ending));
  }
  return { etag: `W/${entityTagOf(plain.toString('latin1'))}`, bodies };
}

function preferredCoding(accepted: string | undefined, bodies: ReadonlyMap<string, Buffer>): string {
  const names = new Set(
    (accepted ?? '')
      .toLowerCase()
      .split(',')
      .filter((coding) => !/;\s*q=0(?:\.0*)?\s*$/.test(coding))
      .map((coding) => coding.split(';', 1)[0]?.trim()),
  );
  return codings.find(([coding]) => bodies.has(coding) && names.has(coding))?.[0] ?? 'identity';
}
