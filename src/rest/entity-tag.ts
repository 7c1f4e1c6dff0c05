import { versionOf, type Precondition } from '../domain/version.ts';

/** The strong entity tag of a body (RFC 9110, section 8.8.3). */
export function entityTagOf(body: string): string {
  return quoted(versionOf(body));
}

/** Whether `If-None-Match` names the tag; it compares weakly (RFC 9110, section 13.1.2). */
export function isNamedBy(header: string | undefined, tag: string): boolean {
  return header !== undefined && (header.trim() === '*' || tagsIn(header).includes(tag));
}

/** What `If-Match` expects of a row's version; it compares strongly (RFC 9110, section 13.1.1). */
export function preconditionOf(header: string | undefined): Precondition | undefined {
  if (header === undefined) return undefined;
  if (header.trim() === '*') return () => true;
  const tags = tagsIn(header.replaceAll(/W\/"[^"]*"/g, ''));
  return (version) => tags.includes(quoted(version));
}

function tagsIn(header: string): readonly string[] {
  return header.match(/"[^"]*"/g) ?? [];
}

function quoted(version: string): string {
  return `"${version}"`;
}
