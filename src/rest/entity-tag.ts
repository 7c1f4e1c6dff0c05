import { hash } from 'node:crypto';

import type { Precondition } from '../domain/store.ts';

/** 128 bits: two different bodies never share a tag. */
const tagCharacters = 22;

/** The strong entity tag of a body (RFC 9110, section 8.8.3). */
export function entityTagOf(body: string): string {
  return `"${hash('sha256', body, 'base64url').slice(0, tagCharacters)}"`;
}

/** Whether `If-None-Match` names the tag; it compares weakly (RFC 9110, section 13.1.2). */
export function isNamedBy(header: string | undefined, tag: string): boolean {
  return header !== undefined && (header.trim() === '*' || tagsIn(header).includes(tag));
}

/** What `If-Match` expects of a row, by the tag of its body; it compares strongly (RFC 9110, section 13.1.1). */
export function preconditionOf<Row>(
  header: string | undefined,
  bodyOf: (row: Row) => object,
): Precondition<Row> | undefined {
  if (header === undefined) return undefined;
  if (header.trim() === '*') return () => true;
  const tags = tagsIn(header.replaceAll(/W\/"[^"]*"/g, ''));
  return (row) => tags.includes(entityTagOf(JSON.stringify(bodyOf(row))));
}

function tagsIn(header: string): readonly string[] {
  return header.match(/"[^"]*"/g) ?? [];
}
