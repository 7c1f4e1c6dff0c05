/** A function that runs with its owner's rights names everything with its schema, which is known when it is created. */
export function inThisSchema(script: string): string {
  return `do $do$ begin execute replace($text$${script}$text$, '@schema', quote_ident(current_schema())); end $do$`;
}
