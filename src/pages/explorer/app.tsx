import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';

import 'graphiql/setup-workers/vite';
import '@graphiql/react/style.css';
import '@graphiql/plugin-doc-explorer/style.css';
import '@graphiql/plugin-history/style.css';
import 'graphiql/graphiql.css';
import './explorer.css';
import { Explorer, type ExplorerProps } from './explorer.tsx';

export function draw(root: Element, props: ExplorerProps): void {
  createRoot(root).render(
    <StrictMode>
      <Explorer {...props} />
    </StrictMode>,
  );
}
