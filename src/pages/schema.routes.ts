import type { FastifyInstance } from 'fastify';

import { HttpError } from '../http/error-table.ts';
import { publicText, serveDocument, type PublicText } from './public-text.ts';

const hidden = 'The schema is not public: introspection is switched off (GRAPHQL_INTROSPECTION).';

/** The SDL for code generators; 404 without `print`, while introspection is off. */
export function registerSchema(server: FastifyInstance, print: (() => string) | undefined): void {
  let text: PublicText | undefined;
  serveDocument(server, '/schema.graphql', () => {
    if (print === undefined) throw new HttpError('NOT_FOUND', hidden);
    // Browsers show plain text, and would save what has GraphQL's own type.
    text ??= publicText('text/plain', print());
    return text;
  });
}
