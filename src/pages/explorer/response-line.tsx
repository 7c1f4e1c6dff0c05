import { describe, type Outcome } from './outcome.ts';

/** The line below the result: how the last request went. */
export function ResponseLine({ outcome }: { readonly outcome: Outcome | undefined }) {
  return (
    <p className="response-line" role="status" aria-label="Last response">
      {outcome === undefined ? 'Nothing sent yet.' : describe(outcome)}
    </p>
  );
}
