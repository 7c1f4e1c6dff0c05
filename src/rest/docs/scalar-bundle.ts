import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

import { fastify } from 'fastify';

import { entityTagOf } from '../entity-tag.ts';

/** Scalar's script, which draws the page. */
export interface ScalarBundle {
  readonly plain: Buffer;
  readonly gzipped: Buffer;
  readonly tag: string;
}

/**
 * Gets the script from the package, which gives it away only through routes of its own, on a server of its own.
 * It has four megabytes, so it is loaded when somebody wants to see the page.
 */
export async function loadScalarBundle(): Promise<ScalarBundle> {
  const { default: scalar } = await import('@scalar/fastify-api-reference');
  const server = fastify();
  await server.register(scalar, { routePrefix: '/', configuration: { url: '/openapi.json' } });
  const { statusCode, rawPayload: plain, payload } = await server.inject('/js/scalar.js');
  await server.close();
  if (statusCode !== 200) throw new Error(`The package of the reference page has no script: ${statusCode}.`);
  return { plain, gzipped: await promisify(gzip)(plain), tag: entityTagOf(payload) };
}
