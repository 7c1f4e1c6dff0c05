/** What a file lacks of the names that it should have, or has beyond them. */
export function differences(file: string, there: readonly string[], wanted: readonly string[]): string[] {
  return [
    ...wanted.filter((name) => !there.includes(name)).map((name) => `${file} lacks ${name}`),
    ...there.filter((name) => !wanted.includes(name)).map((name) => `${file} alone has ${name}`),
  ];
}
