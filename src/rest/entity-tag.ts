import type { IncomingHttpHeaders } from 'node:http';

import { DomainError } from '../domain/errors.ts';
import { versionOfText, type Precondition } from '../domain/version.ts';

/** The strong entity tag of a body (RFC 9110, section 8.8.3). */
export function entityTagOf(body: string): string {
  return quoted(versionOfText(body));
}

/** Throws PRECONDITION_FAILED when `If-Match` doesn't name the tag: it comes first (RFC 9110, section 13.2.2). */
export function isKnown({ 'if-match': match, 'if-none-match': noneMatch }: IncomingHttpHeaders, tag: string): boolean {
  if (match !== undefined && !isNamedStronglyBy(match, tag)) {
    throw new DomainError('PRECONDITION_FAILED', `The \`ETag\` is ${tag}, which \`If-Match\` doesn't name.`);
  }
  return isNamedBy(noneMatch, tag);
}

/** `If-Match` names the version, `If-None-Match` doesn't; undefined without both (RFC 9110, section 13.2.2). */
export function preconditionOf({ 'if-match': match, 'if-none-match': noneMatch }: IncomingHttpHeaders): Precondition {
  if (match === undefined && noneMatch === undefined) return undefined;
  return (version) => {
    const tag = quoted(version);
    return (match === undefined || isNamedStronglyBy(match, tag)) && !isNamedBy(noneMatch, tag);
  };
}

/** Whether `If-None-Match` names the tag; it compares weakly (RFC 9110, section 13.1.2). */
function isNamedBy(header: string | undefined, tag: string): boolean {
  return header !== undefined && (isAny(header) || tagsIn(header).includes(tag.replace(/^W\//, '')));
}

/** Whether `If-Match` names the tag; it compares strongly (RFC 9110, section 13.1.1). */
function isNamedStronglyBy(header: string, tag: string): boolean {
  return isAny(header) || tagsIn(header.replaceAll(/W\/"[^"]*"/g, '')).includes(tag);
}

function isAny(header: string): boolean {
  return header.trim() === '*';
}

function tagsIn(header: string): readonly string[] {
  return header.match(/"[^"]*"/g) ?? [];
}

function quoted(version: string): string {
  return `"${version}"`;
}
