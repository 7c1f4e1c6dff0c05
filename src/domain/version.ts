import { hash } from 'node:crypto';

/** 128 bits: two different representations never share a version. */
const versionCharacters = 22;

/** The version of a resource, by its representation. REST's entity tag is the same, in quotes. */
export function versionOf(representation: object): string {
  return versionOfText(JSON.stringify(representation));
}

/** The same by the JSON text of its representation. */
export function versionOfText(representation: string): string {
  return hash('sha256', representation, 'base64url').slice(0, versionCharacters);
}

/** The version that a row must have to be changed, or which ones it may have; null and undefined check nothing. */
export type Precondition = string | ((version: string) => boolean) | null | undefined;

export function meets(precondition: Precondition, versionOfRow: () => string): boolean {
  if (precondition === null || precondition === undefined) return true;
  return typeof precondition === 'string' ? precondition === versionOfRow() : precondition(versionOfRow());
}
