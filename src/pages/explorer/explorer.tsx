import { GraphiQL } from 'graphiql';
import { DOC_EXPLORER_PLUGIN } from '@graphiql/plugin-doc-explorer';
import { pick, useGraphiQL, useGraphiQLActions } from '@graphiql/react';
import { useEffect, useMemo, useRef, useState, type RefObject } from 'react';

import { type Address, takeFromAddress } from './address.ts';
import type { Operation } from './curl.ts';
import { headersWith, storeKey } from './api-key.ts';
import { browserStorage } from './browser-storage.ts';
import type { Example } from './examples.ts';
import { historyStorage } from './history-storage.ts';
import { ResponseLine, type Summaries } from './response-line.tsx';
import { focusKeyField, SchemaNotice } from './schema-notice.tsx';
import { createFetcher, type OnSummary } from './service.ts';
import { TabHint } from './tab-hint.tsx';
import { Tools } from './tools.tsx';

export interface ExplorerProps {
  readonly firstKey: string | undefined;
  /** The parts of the page's address. */
  readonly firstOperation: Operation | undefined;
  /** None where the schema is hidden. */
  readonly examples: readonly Example[];
}

/** On a narrower screen the documentation would cut off the first example's lines. */
const isNarrow = window.matchMedia('(width < 1400px)').matches;

/**
 * GraphiQL on this service: an example, the others in a list, the schema beside it, the key masked in the headers, and
 * how each request went.
 */
export function Explorer({ firstKey, firstOperation, examples }: ExplorerProps) {
  const { key, ...keyState } = useKey(firstKey);
  const [initial, setInitial] = useState(firstOperation);
  const [brought, setBrought] = useState<Operation>();
  const openTab = useRef('');
  const { summaries, onStart, forgetSummaries } = useSummaries(openTab);
  const fetcher = useMemo(() => createFetcher(key, { onStart, askForKey: keyState.ask }), [key]);
  const changeKey = (changed: string | undefined): void => {
    keyState.change(changed);
    forgetSummaries();
    // The operation has its tab by now.
    setInitial(undefined);
  };
  const focusRun = (): void => {
    if (keyState.isOther) document.querySelector<HTMLElement>('.graphiql-execute-button')?.focus();
  };
  useLinks((address) => {
    if (address.key !== undefined) changeKey(address.key);
    if (address.operation !== undefined) setBrought(address.operation);
  });

  const headers = key === undefined ? '' : JSON.stringify(headersWith(key), null, 2);
  const storage = useMemo(() => historyStorage(browserStorage(), headers), [headers]);
  return (
    // A new key begins a new GraphiQL, so that all tabs have it: they themselves are kept in the browser's storage.
    <GraphiQL
      key={key ?? ''}
      fetcher={fetcher}
      {...contentOf(initial ?? examples[0])}
      defaultHeaders={headers}
      defaultEditorToolsVisibility={false}
      shouldPersistHeaders={false}
      storage={storage}
      schemaDescription
      {...(isNarrow || key === undefined ? {} : { visiblePlugin: DOC_EXPLORER_PLUGIN })}
    >
      <GraphiQL.Logo>{null}</GraphiQL.Logo>
      <GraphiQL.Footer>
        <TabHint />
        <ResponseLine summaries={summaries} lacksKey={keyState.isNeeded} />
      </GraphiQL.Footer>
      <Tools apiKey={key} examples={examples} onForget={() => changeKey(undefined)} brought={brought} />
      <FollowSystemColours />
      <FollowTab id={openTab} />
      <WhenReady onReady={focusRun} />
      <VariablesPane />
      <ExampleHeaders examples={examples} headers={headers} />
      <SchemaNotice isNeeded={keyState.isNeeded} takesFocus={keyState.isOther} onKey={changeKey} />
    </GraphiQL>
  );
}

/** What the first tab has. */
function contentOf(operation: Operation | undefined) {
  if (operation === undefined) return {};
  const { query, variables = '' } = operation;
  return { initialQuery: query, initialVariables: variables, defaultTabs: [{ query, variables }] };
}

/**
 * The key of this tab; whether an operation was to be run without one; and whether it is another one than at first, so
 * that what had the focus is gone.
 */
function useKey(firstKey: string | undefined) {
  const [key, setKey] = useState(firstKey);
  const [isNeeded, setNeeded] = useState(false);
  const [isOther, setOther] = useState(false);
  const change = (changed: string | undefined): void => {
    storeKey(changed);
    setKey(changed);
    setNeeded(false);
    setOther(true);
  };
  const ask = (): boolean => {
    setNeeded(true);
    return focusKeyField();
  };
  return { key, isNeeded, isOther, change, ask };
}

/** How the last request of each tab went. `onStart` is called when the next one of the open tab begins. */
function useSummaries(openTab: RefObject<string>) {
  const [summaries, setSummaries] = useState<Summaries>(new Map());
  const onStart = (): OnSummary => {
    const tab = openTab.current;
    setSummaries((all) => new Map([...all].filter(([id]) => id !== tab)));
    return (summary) => summary && setSummaries((all) => new Map([...all, [tab, summary]]));
  };
  return { summaries, onStart, forgetSummaries: () => setSummaries(new Map()) };
}

/** Takes what a link into the open page brings. The function of the first rendering is called for all of them. */
function useLinks(onLink: (address: Address) => void): void {
  useEffect(() => {
    const onHashChange = (): void => onLink(takeFromAddress());
    window.addEventListener('hashchange', onHashChange);
    return () => window.removeEventListener('hashchange', onHashChange);
  }, []);
}

/** GraphiQL 5.4 asks for the system's colours once for its editors, whose colours are no style sheet's. */
function FollowSystemColours() {
  const { theme } = useGraphiQL(pick('theme'));
  const { setTheme } = useGraphiQLActions();
  useEffect(() => {
    const system = window.matchMedia('(prefers-color-scheme: dark)');
    const follow = (): void => setTheme(theme);
    system.addEventListener('change', follow);
    return () => system.removeEventListener('change', follow);
  }, [theme]);
  return null;
}

/** Keeps the id of the open tab, for what happens outside of rendering. */
function FollowTab({ id }: { readonly id: RefObject<string> }) {
  const { tabs, activeTabIndex } = useGraphiQL(pick('tabs', 'activeTabIndex'));
  const open = tabs[activeTabIndex]?.id ?? '';
  useEffect(() => {
    id.current = open;
  }, [open]);
  return null;
}

/** Gives the open tab the headers of its example: GraphiQL opens each with the same, and keeps none for a reload. */
function ExampleHeaders({ examples, headers }: Pick<ExplorerProps, 'examples'> & { readonly headers: string }) {
  const { tabs, activeTabIndex, headerEditor } = useGraphiQL(pick('tabs', 'activeTabIndex', 'headerEditor'));
  const actions = useGraphiQLActions();
  const tab = tabs[activeTabIndex];
  useEffect(() => {
    const example = examples.find(({ query }) => query === tab?.query);
    if (example?.headers === undefined || headerEditor?.getValue().trim() !== headers) return;
    const all = { ...(JSON.parse(headers || '{}') as object), ...example.headers };
    const text = JSON.stringify(all, null, 2);
    headerEditor.setValue(text);
    actions.updateActiveTabValues({ headers: text });
  }, [tab?.id, tab?.query, headerEditor]);
  return null;
}

/** Opens the variables of a tab that has some, and closes them where they are empty when it is chosen. */
function VariablesPane() {
  const { tabs, activeTabIndex } = useGraphiQL(pick('tabs', 'activeTabIndex'));
  const tab = tabs[activeTabIndex];
  const isEmpty = (tab?.variables ?? '').trim() === '';
  useEffect(() => {
    if (isEmpty) toggleVariables(true);
  }, [tab?.id]);
  useEffect(() => {
    if (!isEmpty) toggleVariables(false);
  }, [tab?.id, isEmpty]);
  return null;
}

/** GraphiQL 5.4 has no action for it, but buttons: of those of its panes the open one is active. */
function toggleVariables(isOpen: boolean): void {
  const tools = document.querySelector('.graphiql-editor-tools');
  const variables = tools?.querySelector<HTMLElement>('[data-name="variables"]');
  const active = tools?.querySelector('[data-name].active');
  if (isOpen && active === variables) tools?.querySelector<HTMLElement>('.graphiql-toggle-editor-tools')?.click();
  if (!isOpen && active === null) variables?.click();
}

function WhenReady({ onReady }: { readonly onReady: () => void }) {
  const { queryEditor, variableEditor } = useGraphiQL(pick('queryEditor', 'variableEditor'));
  const isReady = queryEditor !== undefined && variableEditor !== undefined;
  useEffect(() => {
    if (isReady) onReady();
  }, [isReady]);
  return null;
}
