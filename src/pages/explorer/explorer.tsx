import { GraphiQL } from 'graphiql';
import { DOC_EXPLORER_PLUGIN } from '@graphiql/plugin-doc-explorer';
import { useEffect, useMemo, useState } from 'react';

import { headersWith, takeKeyFromAddress } from './api-key.ts';
import { examples } from './examples.ts';
import { SchemaNotice } from './schema-notice.tsx';
import { createFetcher } from './service.ts';

/** Without the history, which would keep the headers of every request, and with them the key. */
const plugins: [] = [];

const keyFromAddress = takeKeyFromAddress();

/** GraphiQL on this service: the examples in tabs, the schema beside them, and the key in the headers of each. */
export function Explorer() {
  const [key, setKey] = useState(keyFromAddress);
  const headers = useMemo(() => headersWith(key), [key]);
  const fetcher = useMemo(() => createFetcher(headers), [headers]);

  useEffect(() => {
    const onHashChange = (): void => setKey((current) => takeKeyFromAddress() ?? current);
    window.addEventListener('hashchange', onHashChange);
    return () => window.removeEventListener('hashchange', onHashChange);
  }, []);

  return (
    // A new key begins a new GraphiQL, so that all tabs have it: they themselves are kept in the browser's storage.
    <GraphiQL
      key={key ?? ''}
      fetcher={fetcher}
      defaultTabs={examples}
      defaultHeaders={key === undefined ? '' : JSON.stringify(headers, null, 2)}
      defaultEditorToolsVisibility
      shouldPersistHeaders={false}
      plugins={plugins}
      schemaDescription
      visiblePlugin={DOC_EXPLORER_PLUGIN}
    >
      <GraphiQL.Logo>Pet store</GraphiQL.Logo>
      <SchemaNotice onKey={setKey} />
    </GraphiQL>
  );
}
