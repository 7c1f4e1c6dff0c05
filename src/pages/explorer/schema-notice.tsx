import { pick, useGraphiQL, useGraphiQLActions } from '@graphiql/react';
import { useEffect, useRef, type SubmitEvent } from 'react';
import { createPortal } from 'react-dom';

import { CodeLink } from './code-link.tsx';
import { keyMissing, readFailure } from './service.ts';

const place = document.getElementById('notice');

/** False when the key isn't asked for. */
export function focusKeyField(): boolean {
  const field = place?.querySelector('input');
  field?.focus();
  return field instanceof HTMLInputElement;
}

interface SchemaNoticeProps {
  /** Whether an operation was to be run without a key. */
  readonly isNeeded: boolean;
  readonly takesFocus: boolean;
  readonly onKey: (key: string) => void;
}

/** Asks for a key; says why there is no schema, in the service's own words, and what to do about it. */
export function SchemaNotice({ isNeeded, takesFocus, onKey }: SchemaNoticeProps) {
  const { fetchError } = useGraphiQL(pick('fetchError'));
  const actions = useGraphiQLActions();
  if (fetchError === null || place === null) return null;

  const { message, extensions } = readFailure(fetchError);
  const { code } = extensions ?? {};
  const isMissing = code === keyMissing;
  return createPortal(
    <section
      className="notice"
      {...(isMissing ? { 'aria-label': 'Your key' } : { role: 'alert', 'aria-label': 'Why there is no schema' })}
    >
      <p>
        <strong>{message}</strong>
        {isMissing && <strong role="status">{isNeeded && ' Nothing was run: it needs the key, here.'}</strong>}
      </p>
      {isMissing || code === 'UNAUTHENTICATED' ? (
        <KeyForm takesFocus={takesFocus} onKey={onKey} />
      ) : (
        <button
          type="button"
          onClick={() => {
            actions.introspect().catch(reportError);
          }}
        >
          Ask again
        </button>
      )}
      {/* After the field: that is the first to be reached by keyboard. */}
      {isMissing || code === undefined ? null : (
        <p>
          What the code means: <CodeLink code={code} />
        </p>
      )}
    </section>,
    place,
  );
}

function KeyForm({ takesFocus, onKey }: Omit<SchemaNoticeProps, 'isNeeded'>) {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (takesFocus) field.current?.focus();
  }, []);
  const useKey = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const key = new FormData(event.currentTarget).get('key');
    if (typeof key === 'string' && key.trim() !== '') onKey(key.trim());
  };
  return (
    <>
      <p>
        The operator of this service gives you a key. If that is you: open the address that was printed at the first
        start, or run{' '}
        <code>
          npm run -s keys -- create <span>--name NAME</span> <span>--plan free</span>
        </code>
      </p>
      <form onSubmit={useKey}>
        <input
          ref={field}
          name="key"
          type="password"
          aria-label="API key"
          placeholder="API key"
          autoComplete="off"
          required
        />
        <button type="submit">Use this key</button>
        <span>It goes into the headers of every tab, and is kept until this browser tab is closed.</span>
      </form>
    </>
  );
}
