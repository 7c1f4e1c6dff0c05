/** What a file lacks of the names that another place has, and the other way round. */
export function differences(
  file: string,
  there: readonly string[],
  other: string,
  wanted: readonly string[],
): string[] {
  return [
    ...wanted.filter((name) => !there.includes(name)).map((name) => `${file} lacks ${name}, which ${other} has`),
    ...there.filter((name) => !wanted.includes(name)).map((name) => `${other} lacks ${name}, which ${file} has`),
  ];
}
