import { pick, useGraphiQL, useGraphiQLActions } from '@graphiql/react';
import { useEffect, useRef, useState } from 'react';
import { createPortal } from 'react-dom';

import { linkTo } from './address.ts';
import { masked } from './api-key.ts';
import { curlFor, type Operation } from './curl.ts';
import type { Example } from './examples.ts';

interface ToolsProps {
  readonly apiKey: string | undefined;
  readonly examples: readonly Example[];
  readonly onForget: () => void;
  /** What a link has brought into a page that was open already. */
  readonly arrived: Operation | undefined;
}

const place = document.getElementById('tools');

/** The tools in the page header beside GraphiQL's own. */
export function Tools({ apiKey, examples, onForget, arrived }: ToolsProps) {
  const open = useOpen();
  useEffect(() => {
    if (arrived !== undefined) open(arrived);
  }, [arrived]);
  if (place === null) return null;
  return createPortal(
    <>
      <SkipToEditor />
      {examples.length > 0 && <Examples examples={examples} onChoose={open} />}
      <CopyLink />
      <CopyAsCurl />
      {apiKey === undefined ? null : (
        <span className="key">
          Key <code>{masked(apiKey)}</code>, kept in this browser tab until it is closed{' '}
          <button type="button" onClick={onForget}>
            Forget the key
          </button>
        </span>
      )}
    </>,
    place,
  );
}

/** Shows an operation: in the tab that has it, or in a new one. */
function useOpen(): (operation: Operation) => void {
  const { tabs, queryEditor, variableEditor } = useGraphiQL(pick('tabs', 'queryEditor', 'variableEditor'));
  const actions = useGraphiQLActions();
  return ({ query, variables = '' }) => {
    const index = tabs.findIndex((tab) => tab.query === query);
    if (index !== -1) {
      actions.changeTab(index);
      return;
    }
    actions.addTab();
    queryEditor?.setValue(query);
    variableEditor?.setValue(variables);
  };
}

/** By keyboard, the types of the schema would come before it. */
function SkipToEditor() {
  const { queryEditor } = useGraphiQL(pick('queryEditor'));
  return (
    <button type="button" className="skip" onClick={() => queryEditor?.focus()}>
      To the editor
    </button>
  );
}

function Examples({ examples, onChoose }: Pick<ToolsProps, 'examples'> & { onChoose: (example: Operation) => void }) {
  const list = useRef<HTMLDivElement>(null);
  return (
    <>
      <button type="button" popoverTarget="examples">
        Examples
      </button>
      <div id="examples" popover="auto" ref={list} role="group" aria-label="Examples">
        {examples.map((example) => (
          <button
            type="button"
            key={example.query}
            onClick={() => {
              list.current?.hidePopover();
              onChoose(example);
            }}
          >
            {nameOf(example)}
            <small>{example.purpose}</small>
          </button>
        ))}
      </div>
    </>
  );
}

function nameOf({ query }: Example): string {
  return /^(?:query|mutation|subscription) (\w+)/m.exec(query)?.[1] ?? '';
}

/** A link to the operation in the open tab, for the clipboard; where that can't be written, for the address bar. */
function CopyLink() {
  const { queryEditor, variableEditor } = useGraphiQL(pick('queryEditor', 'variableEditor'));
  const [state, setState] = useState('');
  const copy = async (): Promise<void> => {
    const link = linkTo({ query: queryEditor?.getValue() ?? '', variables: variableEditor?.getValue() });
    try {
      await navigator.clipboard.writeText(link);
      setState('Copied, without the key');
    } catch {
      // Only pages on HTTPS or on this machine may write to the clipboard.
      window.history.replaceState(null, '', link);
      setState('It is in the address bar, without the key');
    }
  };
  return <CopyButton name="Copy link" state={state} onCopy={copy} />;
}

/** The operation in the open tab as a shell command. */
function CopyAsCurl() {
  const { queryEditor, variableEditor, headerEditor } = useGraphiQL(
    pick('queryEditor', 'variableEditor', 'headerEditor'),
  );
  const [state, setState] = useState('');
  const copy = async (): Promise<void> => {
    const operation = { query: queryEditor?.getValue() ?? '', variables: variableEditor?.getValue() };
    try {
      const headers = JSON.parse(headerEditor?.getValue().trim() || '{}') as Record<string, unknown>;
      const endpoint = new URL('./graphql', window.location.href).href;
      await navigator.clipboard.writeText(curlFor(operation, headers, endpoint));
      setState('Copied, with $KEY for the key');
    } catch (error) {
      setState(error instanceof SyntaxError ? 'Variables or headers are no JSON' : 'The browser keeps its clipboard');
    }
  };
  return <CopyButton name="Copy as curl" state={state} onCopy={copy} />;
}

interface CopyButtonProps {
  readonly name: string;
  readonly state: string;
  readonly onCopy: () => Promise<void>;
}

function CopyButton({ name, state, onCopy }: CopyButtonProps) {
  return (
    <span className="copy">
      <button
        type="button"
        onClick={() => {
          onCopy().catch(reportError);
        }}
      >
        {name}
      </button>{' '}
      <span role="status">{state}</span>
    </span>
  );
}
