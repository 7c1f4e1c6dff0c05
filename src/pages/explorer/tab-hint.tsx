import { useEffect, useState } from 'react';

const leave = /Mac/.test(navigator.platform) ? 'Ctrl+Shift+M' : 'Ctrl+M';

/**
 * In an editor the Tab key indents: says how to leave it, to be seen and read out while one has the focus. GraphiQL puts
 * a stop before each, from which Enter leads into it.
 */
export function TabHint() {
  const [hint, setHint] = useState('');
  useEffect(() => {
    const stop = new AbortController();
    const { signal } = stop;
    document.addEventListener('focusin', ({ target }) => setHint(hintFor(target)), { signal });
    document.addEventListener('focusout', ({ relatedTarget }) => setHint(hintFor(relatedTarget)), { signal });
    return () => stop.abort();
  }, []);
  return (
    <p className="tab-hint" role="status" aria-label="The Tab key">
      {hint}
    </p>
  );
}

function hintFor(target: EventTarget | null): string {
  const editor = target instanceof Element ? target.closest('.graphiql-editor') : null;
  if (editor === null) return '';
  return editor === target
    ? 'Enter leads into the editor.'
    : `Tab indents here. ${leave} lets it leave the editor, and once more lets it indent.`;
}
