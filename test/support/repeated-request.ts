import { deepStrictEqual } from 'node:assert/strict';

/** How often each GraphQL request of the suites is sent; see `test/README.md`. */
const times = Number(process.env['TEST_REPEAT'] ?? 1);

/** What differs from request to request: ids, dates and the figures of the quota. */
const changingHeaders = /^(?:x-request-id|date|ratelimit|x-ratelimit-)/;
const changingFields = /\b(?:rateLimit|viewer|usage|usageHistory|lastUsedAt|bannedUntil|history|events|eventCursor)\b/;

interface Received {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

interface Repeated<Response> {
  readonly query: string;
  readonly statements: string[];
  readonly send: () => Promise<Response>;
}

let underWay = 0;
let begun = 0;

/**
 * Sends a request as often as `TEST_REPEAT` says, and demands the same bytes, headers and statements each time.
 *
 * Mutations are sent once: the second changes what the first has left behind. So are those that ask for figures of the
 * moment. Statements are compared only where no other request was under way meanwhile, and those of the repetitions are
 * forgotten.
 */
export async function sendRepeatedly<Response extends Received>({
  query,
  statements,
  send,
}: Repeated<Response>): Promise<Response> {
  const first = statements.length;
  const wasAlone = underWay === 0;
  underWay += 1;
  begun += 1;
  const own = begun;
  const isAlone = (): boolean => wasAlone && begun === own;
  try {
    const response = await send();
    if (/\bmutation\b/.test(query) || changingFields.test(query)) return response;
    const expected = seenIn(response, isAlone() ? statements.slice(first) : []);
    for (let time = 1; time < times; time += 1) {
      const before = statements.length;
      const again = await send();
      const sent = isAlone() ? statements.splice(before) : expected.statements;
      deepStrictEqual(seenIn(again, sent), expected, `another response to the request number ${time + 1}: ${query}`);
    }
    return response;
  } finally {
    underWay -= 1;
  }
}

function seenIn({ status, headers, text }: Received, statements: readonly string[]) {
  const lasting = Object.entries(headers).filter(([name]) => !changingHeaders.test(name));
  return { status, headers: Object.fromEntries(lasting), text, statements: statements.toSorted() };
}
