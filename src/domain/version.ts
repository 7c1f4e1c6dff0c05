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

/** Whether the version of a locked row is one that the client has seen. */
export type Precondition = (version: string) => boolean;

/** The row must have exactly this version; null and undefined check nothing. */
export function isVersion(expected: string | null | undefined): Precondition | undefined {
  return expected === null || expected === undefined ? undefined : (version) => version === expected;
}
