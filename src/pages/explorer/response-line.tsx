import { pick, useGraphiQL } from '@graphiql/react';
import { Fragment, useEffect } from 'react';

import { linkTo } from './address.ts';
import { CodeLink } from './code-link.tsx';
import { describe, type ResponseSummary } from './response-summary.ts';

/** How the last request of each tab went, by the tab's id. */
export type Summaries = ReadonlyMap<string, ResponseSummary>;

interface ResponseLineProps {
  readonly summaries: Summaries;
  /** Whether an operation was to be run without a key. */
  readonly lacksKey: boolean;
}

const refusals: ReadonlySet<string> = new Set(['RATE_LIMITED', 'KEY_BANNED']);

/** Opened, not run: it would be refused, too, until the quota allows it. */
const lastRefusals = linkTo({
  query: `# Why the key was refused. It costs 1, so run it when Retry-After has passed.
query LastRefusals {
  viewer {
    requests(first: 10, filter: { codeIn: ["RATE_LIMITED", "rate_limited", "KEY_BANNED", "key_banned"] }) {
      nodes { at operation status code refusedBy limit retryAfter requestId }
      omitted
    }
  }
}
`,
});

const isStacked = window.matchMedia('(width < 800px)');

/** The line below the result of the open tab: how its last request went; and what to do where there is no result. */
export function ResponseLine({ summaries, lacksKey }: ResponseLineProps) {
  const { tabs, activeTabIndex, isFetching, fetchError, responseEditor } = useGraphiQL(
    pick('tabs', 'activeTabIndex', 'isFetching', 'fetchError', 'responseEditor'),
  );
  const tab = tabs[activeTabIndex];
  const summary = tab && summaries.get(tab.id);
  useEffect(() => {
    // Below the editor, it would be out of sight.
    if (isFetching && isStacked.matches) document.querySelector('.graphiql-response')?.scrollIntoView();
  }, [isFetching]);
  useEffect(() => {
    // GraphiQL has just written there why it has no schema, which the notice says.
    if (fetchError !== null) responseEditor?.setValue(tab?.response ?? '');
  }, [fetchError, responseEditor]);
  return (
    <>
      {isFetching || tab?.response ? null : (
        <p className="result-hint">
          {lacksKey
            ? 'Nothing was run: there is no API key yet. The operator of this service gives you one, and the field at the top takes it.'
            : 'The result is shown here: run the operation by its button, or by Ctrl-Enter.'}
        </p>
      )}
      <p className="response-line" role="status" aria-label="Last response">
        {summary === undefined ? 'No response yet.' : describe(summary)}
        {summary?.codes.map((code) => (
          <Fragment key={code}>
            {' · '}
            <CodeLink code={code} />
          </Fragment>
        ))}
        {summary?.codes.some((code) => refusals.has(code)) === true && (
          <>
            {' · '}
            <a href={lastRefusals}>the last refusals of this key</a>
          </>
        )}
      </p>
    </>
  );
}
