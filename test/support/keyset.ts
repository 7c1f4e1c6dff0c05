/** The first rows of a list, in the order of their ids. */
export function firstRows(limit: number) {
  const sort = { field: 'ID', direction: 'asc' } as const;
  return { sort, after: undefined, before: undefined, takeLast: false, limit };
}
