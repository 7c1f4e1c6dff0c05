import { describe, type ResponseSummary } from './response-summary.ts';

/** The line below the result: how the last request went. */
export function ResponseLine({ summary }: { readonly summary: ResponseSummary | undefined }) {
  return (
    <p className="response-line" role="status" aria-label="Last response">
      {summary === undefined ? 'Nothing sent yet.' : describe(summary)}
    </p>
  );
}
