import { existsSync, readFileSync } from 'node:fs';

/** The consumer's guides of REST, as `.ci/guides.mjs` has built them. */
export interface Guides {
  /** Markdown, to follow the document's own description. */
  readonly markdown: string;
  /** The description and the guides. */
  readonly html: string;
}

/** Empty where they are not built. */
export function readGuides(file: string): Guides {
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Guides) : { markdown: '', html: '' };
}
