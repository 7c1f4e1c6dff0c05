import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';

import 'graphiql/setup-workers/vite';
import '@graphiql/react/style.css';
import '@graphiql/plugin-doc-explorer/style.css';
import '@graphiql/plugin-history/style.css';
import 'graphiql/graphiql.css';
import './explorer.css';
import type { Operation } from './curl.ts';
import type { Example } from './examples.ts';
import { Explorer } from './explorer.tsx';

interface Beginning {
  readonly key: string | undefined;
  readonly operation: Operation | undefined;
  readonly examples: readonly Example[];
}

/** Draws the explorer, and calls `onReady` when its editors are there. */
export function draw(
  root: Element,
  { key, operation, examples }: Beginning,
  onReady: () => Operation | undefined,
): void {
  createRoot(root).render(
    <StrictMode>
      <Explorer firstKey={key} firstOperation={operation} examples={examples} onReady={onReady} />
    </StrictMode>,
  );
}
