/**
 * Creates a function. One that runs with the rights of its owner names everything with its schema, which is known when
 * it is created.
 */
export function inThisSchema(text: string): string {
  return `do $do$
  begin
    execute replace($text$${text}$text$, '@schema', quote_ident(current_schema()));
  end
  $do$`;
}
