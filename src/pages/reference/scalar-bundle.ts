import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';

import { entityTagOf } from '../../rest/entity-tag.ts';

/** Scalar's script, which draws the page. */
export interface ScalarBundle {
  readonly plain: Buffer;
  readonly gzipped: Buffer;
  readonly tag: string;
}

/**
 * Reads the compressed script that `npm run build` has made. It has four megabytes, so it is loaded on the first
 * request.
 */
export async function loadScalarBundle(file: string): Promise<ScalarBundle> {
  const gzipped = await readFile(file);
  const plain = await promisify(gunzip)(gzipped);
  return { plain, gzipped, tag: entityTagOf(plain.toString()) };
}
