export interface ResponseSummary {
  readonly status: number;
  /** From sending the request to having read the whole response. */
  readonly millis: number;
  readonly cost: string | undefined;
  /** The complexity of the operation, as it counts towards the limit of complexity, if the response has it. */
  readonly complexity: string | undefined;
  /** The rest of the quota's windows, by their names: `minute`, `day`. */
  readonly left: readonly { readonly window: string; readonly remaining: string }[];
  readonly requestId: string | undefined;
  /** The codes of the errors in the response, each once. */
  readonly codes: readonly string[];
}

const windowFigures = /"(\w+)";r=(\d+)/g;

export function summaryOf({ status, headers }: Response, millis: number): ResponseSummary {
  return {
    status,
    millis: Math.round(millis),
    cost: headers.get('x-ratelimit-cost') ?? undefined,
    complexity: headers.get('x-graphql-complexity') ?? undefined,
    left: [...(headers.get('ratelimit') ?? '').matchAll(windowFigures)].map(([, window = '', remaining = '']) => ({
      window,
      remaining,
    })),
    requestId: headers.get('x-request-id') ?? undefined,
    codes: [],
  };
}

/** The status line: `HTTP 200 · 74 ms · cost 1 · complexity 40 · left 998 this minute, 99998 this day · request …`. */
export function describe({ status, millis, cost, complexity, left, requestId }: ResponseSummary): string {
  const windows = left.map(({ window, remaining }) => `${remaining} this ${window}`).join(', ');
  return [
    `HTTP ${status}`,
    `${millis} ms`,
    cost && `cost ${cost}`,
    complexity && `complexity ${complexity}`,
    windows && `left ${windows}`,
    requestId && `request ${requestId}`,
  ]
    .filter(Boolean)
    .join(' · ');
}
