// guide:begin codegen
import type { CodegenConfig } from '@graphql-codegen/cli';
import { addTypenameSelectionDocumentTransform } from '@graphql-codegen/client-preset';

const config: CodegenConfig = {
  schema: 'generated/schema.graphql',
  documents: ['**/program.{ts,tsx}', '!node_modules/**'],
  importExtension: '.ts',
  generates: {
    'generated/graphql/': {
      preset: 'client',
      // Writes persisted-documents.json, the manifest for GRAPHQL_DOCUMENTS, with the texts as the client would send
      // them.
      presetConfig: { fragmentMasking: false, persistedDocuments: true },
      documentTransforms: [addTypenameSelectionDocumentTransform],
      config: { useTypeImports: true, enumsAsTypes: true, scalars: { ID: 'string', DateTime: 'string' } },
    },
  },
};

// oxlint-disable-next-line import/no-default-export -- that is where the generator looks
export default config;
// guide:end
