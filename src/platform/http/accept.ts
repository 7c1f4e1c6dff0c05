const quality = /^[\d.]+/;

/** The text before a separator that isn't in quotes. Nothing follows that could fail, so neither pattern goes back. */
const betweenCommas = /(?:[^,"]|"(?:[^"\\]|\\.)*"?)+/g;
const betweenSemicolons = /(?:[^;"]|"(?:[^"\\]|\\.)*"?)+/g;

/**
 * Which of the media types an Accept header prefers; undefined when it allows none. (`negotiator` doesn't tell which
 * range has decided, so the more specific one can't win.)
 *
 * The range that is closest to a type decides its weight (RFC 9110, section 12.5.1). Of types with equal weight, the
 * one with the more specific range wins, then the one that the header names first, then the first.
 */
export function preferredType<Type extends string>(
  accept: string | undefined,
  types: readonly Type[],
): Type | undefined {
  if (accept === undefined || accept === '*/*' || accept.trim() === '') return types[0];
  const only = types.find((type) => type === accept);
  if (only !== undefined) return only;
  const ranges = rangesIn(accept);
  const wanted = types.flatMap((type) => wantedBy(ranges, type) ?? []);
  wanted.sort((a, b) => b.weight - a.weight || a.distance - b.distance || a.index - b.index);
  return wanted[0]?.type;
}

/** Whether an Accept header names the media type itself, and doesn't prefer the other one. */
export function asksFor(accept: string | undefined, type: string, other: string): boolean {
  if (accept?.toLowerCase().includes(type) !== true) return false;
  const ranges = rangesIn(accept);
  const wanted = wantedBy(ranges, type);
  return wanted?.distance === 0 && wanted.weight >= (wantedBy(ranges, other)?.weight ?? 0);
}

interface Wanted<Type> {
  readonly type: Type;
  readonly weight: number;
  readonly distance: number;
  readonly index: number;
}

function wantedBy<Type extends string>(ranges: readonly MediaRange[], type: Type): Wanted<Type> | undefined {
  const matching = [type, type.replace(/\/.*/, '/*'), '*/*'];
  let closest: Wanted<Type> | undefined;
  for (const [index, { type: range, weight }] of ranges.entries()) {
    const distance = matching.indexOf(range);
    if (distance === -1 || (closest !== undefined && distance >= closest.distance)) continue;
    closest = { type, weight, distance, index };
  }
  return closest !== undefined && closest.weight > 0 ? closest : undefined;
}

export interface MediaRange {
  /** In lower case. */
  readonly type: string;
  /** By their names in lower case, values without their quotes; without `q`. */
  readonly parameters: ReadonlyMap<string, string>;
  /** 0 excludes it. */
  readonly weight: number;
}

/** The ranges that an Accept header names and doesn't exclude. */
export function acceptedRanges(accept = ''): readonly MediaRange[] {
  return rangesIn(accept).filter(({ weight }) => weight > 0);
}

/** The ranges of an Accept header with all their parameters (RFC 9110, section 8.3.1), whose values may be quoted. */
function rangesIn(accept: string): readonly MediaRange[] {
  const texts = accept.match(betweenCommas) ?? [];
  return texts.flatMap((text) => {
    const [type = '', ...rest] = text.match(betweenSemicolons) ?? [];
    const parameters = new Map(rest.map(readParameter));
    const [weight = '1'] = quality.exec(parameters.get('q') ?? '') ?? [];
    parameters.delete('q');
    const name = type.trim().toLowerCase();
    return name === '' ? [] : { type: name, parameters, weight: Number(weight) || 0 };
  });
}

function readParameter(text: string): readonly [name: string, value: string] {
  const at = text.indexOf('=');
  if (at === -1) return [text.trim().toLowerCase(), ''];
  const value = text.slice(at + 1).trim();
  const isQuoted = value.length > 1 && value.startsWith('"') && value.endsWith('"');
  return [text.slice(0, at).trim().toLowerCase(), isQuoted ? value.slice(1, -1) : value];
}
