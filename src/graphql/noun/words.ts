import type { NounName } from '../../domain/nouns.ts';

/** `a pet`, `an order`. */
export function withArticle(noun: NounName): string {
  return /^[aeiou]/.test(noun) ? `an ${noun}` : `a ${noun}`;
}

/** `createPet` as the beginning of the name of a type. */
export function capitalized(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}
