/** A text that a client sent, as an error message shows it: what is left out of a long one is marked. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
}
