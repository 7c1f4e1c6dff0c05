import { parseId, type Id } from './id.ts';
import type { Rule } from './input.ts';
import { parseInstant } from './instant.ts';

const maxInt32 = 2 ** 31 - 1;
export const maxNameCharacters = 255;
export const maxDescriptionCharacters = 2000;
export const maxListItems = 1000;
const maxUrlCharacters = 2048;

// C0, DEL and C1; in running text tab, line feed and carriage return are fine.
// oxlint-disable-next-line no-control-regex
const controlCharacter = /[\u0000-\u001f\u007f-\u009f]/;
// oxlint-disable-next-line no-control-regex
const controlCharacterInText = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/;

/** Controls of the direction of text (embeddings, overrides, isolates), which show what is around them in another order. */
const directionControls = String.raw`\u202a-\u202e\u2066-\u2069`;
const controlOrDirection = new RegExp(`${controlCharacter.source}|[${directionControls}]`);

/** 1 to 255 Unicode code points, after trimming white space. */
export const nameRule = nameRuleWithout(controlCharacter);

/** The same without controls of the direction of text: whoever manages keys must see them as they are. */
export const keyNameRule = nameRuleWithout(controlOrDirection);

/** At most 2,000 Unicode code points; line breaks are allowed. */
export const descriptionRule = textRule(maxDescriptionCharacters, controlCharacterInText);

/** A URL's text, before it is parsed: a parser would leave white space out and replace half of a surrogate pair. */
export const urlTextRule = textRule(maxUrlCharacters, /[\p{Cc}\s]/u);

/** Text to search for: at most 255 Unicode code points that PostgreSQL can store. */
export const searchTextRule = textRule(maxNameCharacters, /\0/);

export const stockQuantityRule = integerRule(0, maxInt32);
export const orderQuantityRule = integerRule(1, maxInt32);
/** A bound in a filter: any int32. */
export const quantityBoundRule = integerRule(-maxInt32 - 1, maxInt32);

export function integerRule(min: number, max: number): Rule<number, number> {
  return (value, refuse) => {
    if (!Number.isInteger(value) || value < min || value > max) {
      refuse(`must be a whole number from ${min} to ${max}, not ${value}.`);
    }
    return value;
  };
}

/** An RFC 3339 date-time with an offset. */
export const instantRule: Rule<string, Date> = (value, refuse) => {
  const parsed = parseInstant(value);
  if (typeof parsed !== 'string') return parsed;
  refuse(parsed);
  return new Date(0);
};

/** The values to choose from in a filter. */
export function choiceRule<Item>(): Rule<readonly Item[], readonly Item[]> {
  return (values, refuse) => {
    if (values.length > maxListItems) refuse(`must have at most ${maxListItems} items, not ${values.length}.`);
    return values;
  };
}

/** The ids to choose from in a filter; an invalid id matches nothing. */
export const idChoiceRule: Rule<readonly string[], readonly Id[]> = (values, refuse) =>
  choiceRule<string>()(values, refuse)
    .slice(0, maxListItems)
    .map(parseId)
    .filter((id) => id !== undefined);

/** For input whose type the protocols have checked already. */
export function anyRule<Value>(): Rule<Value, Value> {
  return (value) => value;
}

function nameRuleWithout(refused: RegExp): Rule<string, string> {
  const rule = textRule(maxNameCharacters, refused);
  return (value, refuse) => {
    const name = value.trim();
    const length = countCharacters(name);
    if (length < 1 || length > maxNameCharacters) {
      refuse(`must have 1 to ${maxNameCharacters} characters besides the white space around it, not ${length}.`);
    } else {
      rule(name, refuse);
    }
    return name;
  };
}

function textRule(maxCharacters: number, refused: RegExp): Rule<string, string> {
  return (value, refuse) => {
    const length = countCharacters(value);
    const found = length > maxCharacters ? undefined : refused.exec(value)?.[0].codePointAt(0);
    if (length > maxCharacters) {
      refuse(`must have at most ${maxCharacters} characters, not ${length}.`);
    } else if (found !== undefined) {
      refuse(`must not contain the character U+${found.toString(16).toUpperCase().padStart(4, '0')}.`);
    } else if (!value.isWellFormed()) {
      refuse('must be well-formed Unicode, but has half of a surrogate pair.');
    }
    return value;
  };
}

/** More than any rule allows. */
const maxCounted = 10_000;

/** Code points; of a longer text, too long either way, code units: a request may have 1 MB for each alias. */
function countCharacters(text: string): number {
  if (text.length > maxCounted) return text.length;
  let pairs = 0;
  for (let index = 1; index < text.length; index += 1) {
    if (isSurrogate(text, index, 0xdc00) && isSurrogate(text, index - 1, 0xd800)) pairs += 1;
  }
  return text.length - pairs;
}

/** The first half of a pair is 0xd800 and above, the second 0xdc00. */
function isSurrogate(text: string, index: number, half: number): boolean {
  return (text.charCodeAt(index) & 0xfc00) === half;
}
