import { join } from 'node:path';

import type { FastifyInstance } from 'fastify';

import { registerExplorer } from './explorer.routes.ts';
import { registerGuides } from './guides.routes.ts';
import { registerPages } from './landing.routes.ts';
import { type DocsOptions, registerDocs } from './reference/reference.routes.ts';
import { registerSchema } from './schema.routes.ts';

/** Where the build puts what the pages load, as seen from the built program. */
const builtExplorer = join(import.meta.dirname, '../../explorer');
const builtDocs = join(import.meta.dirname, '../../docs');

type SiteOptions = Pick<DocsOptions, 'restPrefix'> & DocsOptions['limits'] & Parameters<typeof registerGuides>[2];

/** The pages that people look at and generators load, without a key; `printSchema` prints the SDL. */
export function registerSite(
  server: FastifyInstance,
  options: SiteOptions,
  document: DocsOptions['document'],
  printSchema: () => string,
): void {
  const { restPrefix, graphql } = options;
  registerPages(server);
  registerExplorer(server, builtExplorer, graphql);
  registerDocs(server, {
    document,
    restPrefix,
    script: join(builtDocs, 'scalar.js'),
    guides: join(builtDocs, 'guides.json'),
    limits: options,
  });
  registerGuides(server, join(builtDocs, 'graphql'), options);
  registerSchema(server, graphql.introspection ? printSchema : undefined);
}
