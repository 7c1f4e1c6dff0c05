import { readFileSync } from 'node:fs';

/** The consumer's guides, as `.ci/guides.mjs` has built them. */
export interface Guides {
  /** Markdown, to follow the document's own description. */
  readonly markdown: string;
  /** The description and the guides. */
  readonly html: string;
  /** The guides of GraphQL, as HTML. */
  readonly graphql: string;
}

export function readGuides(file: string): Guides {
  return JSON.parse(readFileSync(file, 'utf8')) as Guides;
}
