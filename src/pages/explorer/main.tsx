import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';

import 'graphiql/setup-workers/vite';
import '@graphiql/react/font/fira-code.css';
import '@graphiql/react/style.css';
import '@graphiql/plugin-doc-explorer/style.css';
import 'graphiql/graphiql.css';
import './explorer.css';
import { Explorer } from './explorer.tsx';

const root = document.getElementById('explorer');
if (root !== null) {
  createRoot(root).render(
    <StrictMode>
      <Explorer />
    </StrictMode>,
  );
}
