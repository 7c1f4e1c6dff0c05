import type { ASTNode, DocumentNode } from 'graphql';

/** What a node takes with what is prepared of it, on the average. */
const bytesOfNode = 200;

/**
 * Lets go of the tokens that the parser (graphql-js 16.15) has chained to the document, which nothing uses. Returns an
 * estimate of what the document takes without them, prepared.
 */
export function withoutTokens(document: DocumentNode): number {
  let nodes = 0;
  const strip = (node: ASTNode): void => {
    nodes += 1;
    // Positions stay, for the errors of fields.
    if (node.loc !== undefined) Object.assign(node.loc, { startToken: undefined, endToken: undefined });
    for (const value of Object.values(node) as unknown[]) {
      if (Array.isArray(value)) for (const each of value) strip(each as ASTNode);
      else if (typeof value === 'object' && value !== null && 'kind' in value) strip(value as ASTNode);
    }
  };
  strip(document);
  return nodes * bytesOfNode + 2 * (document.loc?.end ?? 0);
}
