import { getOperationAST, OperationTypeNode, parse, type OperationDefinitionNode } from 'graphql';

export const eventStreamType = 'text/event-stream';

/** All results of a subscription so far, one below the other. */
export interface Results {
  readonly results: readonly object[];
}

/** So many of the last results are shown: an editor gets slow with more. */
const maxShown = 100;

/** The operation that is run; undefined in a document that doesn't parse: the service says what is wrong with it. */
export function findOperation(query: string, name: string | null | undefined): OperationDefinitionNode | undefined {
  try {
    return getOperationAST(parse(query), name) ?? undefined;
  } catch {
    return undefined;
  }
}

export function isSubscription(query: string, operationName: string | null | undefined): boolean {
  return findOperation(query, operationName)?.operation === OperationTypeNode.SUBSCRIPTION;
}

/** Reads the results of a subscription until it ends or is stopped, and shows each below those before. */
export async function readResults(response: Response, show: (results: Results) => void): Promise<void> {
  const results: object[] = [];
  const decoder = new TextDecoder();
  let text = '';
  show({ results: [] });
  const reader = response.body?.getReader();
  if (reader === undefined) return;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    text += decoder.decode(value, { stream: true });
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    const received = blocks.flatMap(resultIn);
    if (received.length === 0) continue;
    results.push(...received);
    results.splice(0, results.length - maxShown);
    show({ results: [...results] });
  }
}

/** The result of an event of Server-Sent Events; none in a comment, or in the last event. */
function resultIn(block: string): object[] {
  const data = /^data: (.+)$/m.exec(block)?.[1];
  return data === undefined ? [] : [JSON.parse(data) as object];
}
