import { eventCursorRule } from '../domain/events/event-id.ts';
import type { Rule } from '../domain/input.ts';
import { cursorRule } from '../domain/page.ts';
import { descriptionRule, instantRule, integerRule, nameRule } from '../domain/rules.ts';
import { nouns } from '../domain/nouns.ts';
import type { Schema } from './openapi/document.ts';

/** The domain's rules by the formats of the document that stand for them. */
const textRules: Readonly<Record<string, Rule<string, unknown>>> = {
  name: nameRule,
  text: descriptionRule,
  'date-time': instantRule,
};

/** Formats whose values have rules of their own elsewhere: numbers, and texts that the services take as they are. */
const otherFormats: ReadonlySet<string> = new Set(['int32', 'int64']);

/** Throws when a format of the document stands for no rule: its violations would be missing where a body has others. */
export function assertKnownFormat({ format }: Schema, property: string): void {
  if (format === undefined || format in textRules || otherFormats.has(format)) return;
  throw new Error(`The format ${format} of ${property} has no rule: add it to textRules in src/rest/domain-rules.ts.`);
}

/** By format. A cursor is decoded once, here; services take its position. */
export const cursorRules: Readonly<Record<string, Rule<string, unknown>>> = {
  ...Object.fromEntries(Object.values(nouns).map(({ sorting }) => [`${sorting.kind}-cursor`, cursorRule(sorting)])),
  'events-cursor': eventCursorRule,
};

/**
 * The violation of a domain rule by a value of the right type, or undefined.
 *
 * The services apply these rules themselves. They are applied here only to a body whose structure is wrong too, which
 * never reaches a service: the client gets all failing fields at once.
 */
export function domainProblem({ format, type, minimum, maximum }: Schema, value: unknown): string | undefined {
  let found: string | undefined;
  const refuse = (problem: string): void => {
    found ??= problem;
  };
  const textRule = textRules[format ?? ''];
  if (textRule !== undefined && typeof value === 'string') textRule(value, refuse);
  if (type === 'integer' && typeof value === 'number' && minimum !== undefined && maximum !== undefined) {
    integerRule(minimum, maximum)(value, refuse);
  }
  return found;
}
