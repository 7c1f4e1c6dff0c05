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
  /** An operation from a link into the open page, or from the first editor. */
  readonly brought: Operation | undefined;
}

const place = document.getElementById('tools');

/** The tools in the page header beside GraphiQL's own. */
export function Tools({ apiKey, examples, onForget, brought }: ToolsProps) {
  const open = useOpen();
  useEffect(() => {
    if (brought !== undefined) open(brought);
  }, [brought]);
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

/** Shows an operation: in the tab that has it, with its variables if it brings any, or in a new one. */
function useOpen(): (operation: Operation) => void {
  const { tabs, queryEditor, variableEditor } = useGraphiQL(pick('tabs', 'queryEditor', 'variableEditor'));
  const actions = useGraphiQLActions();
  return ({ query, variables }) => {
    const index = tabs.findIndex(
      (tab) => tab.query === query && (variables === undefined || tab.variables === variables),
    );
    if (index !== -1) {
      actions.changeTab(index);
      return;
    }
    actions.addTab();
    queryEditor?.setValue(query);
    variableEditor?.setValue(variables ?? '');
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
  const copy = async (): Promise<string> => {
    const link = linkTo({ query: queryEditor?.getValue() ?? '', variables: variableEditor?.getValue() });
    try {
      await navigator.clipboard.writeText(link);
      return 'Copied, without the key';
    } catch {
      // Only pages on HTTPS or on this machine may write to the clipboard.
      window.history.replaceState(null, '', link);
      return 'It is in the address bar, without the key';
    }
  };
  return <CopyButton name="Copy link" copy={copy} />;
}

/** The operation in the open tab as a shell command. */
function CopyAsCurl() {
  const { queryEditor, variableEditor, headerEditor, operationName } = useGraphiQL(
    pick('queryEditor', 'variableEditor', 'headerEditor', 'operationName'),
  );
  const copy = async (): Promise<string> => {
    const query = queryEditor?.getValue() ?? '';
    const variables = variableEditor?.getValue();
    try {
      const headers = JSON.parse(headerEditor?.getValue().trim() || '{}') as Record<string, unknown>;
      const endpoint = new URL('./graphql', window.location.href).href;
      await navigator.clipboard.writeText(curlFor({ query, variables, operationName }, headers, endpoint));
      return 'Copied, with $KEY for the key';
    } catch (error) {
      return error instanceof SyntaxError ? 'Variables or headers are no JSON' : 'The browser keeps its clipboard';
    }
  };
  return <CopyButton name="Copy as curl" copy={copy} />;
}

interface CopyButtonProps {
  readonly name: string;
  /** Returns how it went. */
  readonly copy: () => Promise<string>;
}

/** The time to read it. */
const outcomeMillis = 5_000;

function CopyButton({ name, copy }: CopyButtonProps) {
  const [outcome, setOutcome] = useState('');
  useEffect(() => {
    const timer = setTimeout(() => setOutcome(''), outcomeMillis);
    return () => clearTimeout(timer);
  }, [outcome]);
  return (
    <span className="copy">
      <button
        type="button"
        onClick={() => {
          copy().then(setOutcome).catch(reportError);
        }}
      >
        {name}
      </button>{' '}
      <span role="status">{outcome}</span>
    </span>
  );
}
