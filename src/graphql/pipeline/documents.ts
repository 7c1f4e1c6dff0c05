import type { ApolloServerOptions, ApolloServerPlugin } from '@apollo/server';
import type { DocumentNode } from 'graphql';

import { BoundedMap } from '../../domain/bounded-map.ts';
import type { GraphQLContext } from '../context.ts';

type ApolloOptions = ApolloServerOptions<GraphQLContext>;

export interface Documents extends Readonly<Required<Pick<ApolloOptions, 'documentStore' | 'persistedQueries'>>> {
  readonly plugin: ApolloServerPlugin<GraphQLContext>;
}

/**
 * So many characters of text are surely remembered, and at most twice as many. A document takes 90 to 200 bytes for each.
 */
const keptCharacters = 2 ** 17;

/**
 * Where Apollo finds the documents that it has parsed and validated: under their text.
 *
 * It would look them up under a SHA-256 of the text, which is more work than the whole lookup: a tenth of a request for one pet. But it
 * takes the hash of a persisted query as it comes, so each text is handed over as one, and as its own hash. Persisted queries themselves
 * aren't offered: those of a client are never found.
 */
export function createDocuments(): Documents {
  const documents = new BoundedMap<string, DocumentNode>(keptCharacters, (text) => text.length);
  const started = Promise.resolve();
  return {
    documentStore: {
      get: (key) => Promise.resolve(documents.get(key)),
      set: (key, document) => {
        documents.set(key, document);
        return Promise.resolve();
      },
      delete: (key) => Promise.resolve(documents.delete(key)),
    },
    persistedQueries: {
      cache: {
        // Apollo puts a prefix before the hash.
        get: (key) => Promise.resolve(key.slice(key.indexOf(':') + 1) || undefined),
        set: () => Promise.resolve(),
        delete: () => Promise.resolve(),
      },
    },
    plugin: {
      requestDidStart: ({ request }) => {
        const { query, extensions } = request;
        const isPersisted = Boolean(extensions?.['persistedQuery']);
        if (isPersisted || query) {
          const persistedQuery = { version: 1, sha256Hash: isPersisted ? '' : query };
          request.extensions = extensions === undefined ? { persistedQuery } : { ...extensions, persistedQuery };
          (request as { query: string | undefined }).query = undefined;
        }
        return started;
      },
    },
  };
}
