import type { CodegenConfig } from '@graphql-codegen/cli';

// guide:begin apollo-client-codegen
const config: CodegenConfig = {
  schema: 'generated/schema.graphql',
  documents: ['apollo-client/*.ts', 'urql/*.ts'],
  importExtension: '.ts',
  generates: {
    'generated/graphql/': {
      preset: 'client',
      presetConfig: { fragmentMasking: false, persistedDocuments: true },
      config: { useTypeImports: true, enumsAsTypes: true, scalars: { ID: 'string', DateTime: 'string' } },
    },
  },
};
// guide:end

// oxlint-disable-next-line import/no-default-export -- that is where the generator looks
export default config;
