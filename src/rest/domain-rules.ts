import { eventCursorRule } from '../domain/events/event.ts';
import type { Rule } from '../domain/input.ts';
import { cursorRule } from '../domain/page.ts';
import {
  descriptionRule,
  instantRule,
  integerRule,
  maxDescriptionCharacters,
  maxNameCharacters,
  nameRule,
} from '../domain/rules.ts';
import { nouns } from '../domain/nouns.ts';
import type { Schema } from './openapi/document.ts';

/** A text of the document: the rule of the domain that its format stands for, and its limits. */
interface TextFormat {
  readonly rule: Rule<string, unknown>;
  readonly minLength?: number;
  readonly maxLength?: number;
}

export const textFormats: Readonly<Record<string, TextFormat>> = {
  name: { rule: nameRule, minLength: 1, maxLength: maxNameCharacters },
  text: { rule: descriptionRule, maxLength: maxDescriptionCharacters },
  'date-time': { rule: instantRule },
};

/** Formats whose values have rules of their own elsewhere: numbers, and texts that the services take as they are. */
const otherFormats: ReadonlySet<string> = new Set(['int32', 'int64']);

/** Throws when a format of the document stands for no rule: its violations would be missing where a body has others. */
export function assertKnownFormat({ format }: Schema, property: string): void {
  if (format === undefined || format in textFormats || otherFormats.has(format)) return;
  throw new Error(
    `The format ${format} of ${property} has no rule: add it to textFormats in src/rest/domain-rules.ts.`,
  );
}

/** By format. A cursor is decoded once, here; services take its position. */
export const cursorRules: Readonly<Record<string, Rule<string, unknown>>> = {
  ...Object.fromEntries(Object.values(nouns).map(({ sorting }) => [`${sorting.kind}-cursor`, cursorRule(sorting)])),
  'events-cursor': eventCursorRule,
};

/** Services apply these rules; here only to a body whose structure is wrong too, so that all fields are named. */
export function domainProblem({ format, type, minimum, maximum }: Schema, value: unknown): string | undefined {
  let found: string | undefined;
  const refuse = (problem: string): void => {
    found ??= problem;
  };
  const text = textFormats[format ?? ''];
  if (text !== undefined && typeof value === 'string') text.rule(value, refuse);
  if (type === 'integer' && typeof value === 'number' && minimum !== undefined && maximum !== undefined) {
    integerRule(minimum, maximum)(value, refuse);
  }
  return found;
}
