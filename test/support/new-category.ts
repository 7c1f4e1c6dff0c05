/** What tests insert past the service: the first value of a new field is named here, once. */
export function newCategory(name: string, description: string | null = null) {
  return { name, description };
}
