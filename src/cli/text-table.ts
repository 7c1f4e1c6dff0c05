const rightAligned = new Set([
  'ID',
  'PER MINUTE',
  'PER DAY',
  'MINUTE',
  'DAY',
  'STATUS',
  'MS',
  'REQUESTS',
  'USES',
  'COST',
  'BY QUOTA',
  'BY BAN',
  'FROM 400',
  'FROM 500',
  'WRITES',
]);

export function table(names: readonly string[], cells: readonly (readonly string[])[]): string {
  const rows = [names, ...cells.map((row) => row.map(printable))];
  const widths = names.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const pad = (text: string, column: number): string => {
    const width = widths[column] ?? 0;
    return rightAligned.has(names[column] ?? '') ? text.padStart(width) : text.padEnd(width);
  };
  return rows.map((row) => row.map(pad).join('  ').trimEnd()).join('\n');
}

/** A line for each property. */
export function details(lines: readonly (readonly [heading: string, value: string])[]): string {
  return lines.map(([heading, value]) => `${heading.padEnd(12)}${printable(value)}`.trimEnd()).join('\n');
}

export function figure(value: number): string {
  return value.toLocaleString('en-US');
}

export function shown(instant: Date | null | undefined): string {
  return instant === null || instant === undefined ? '' : `${instant.toISOString().slice(0, 19)}Z`;
}

/** Characters that a terminal obeys instead of showing them, or that change the order in which it shows others. */
const unprintable = /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/gu;

/** The text as a terminal may have it: names of keys may be older than the rule for them. */
export function printable(text: string): string {
  return text.replaceAll(unprintable, (each) => `\\u{${each.codePointAt(0)?.toString(16).padStart(4, '0')}}`);
}
