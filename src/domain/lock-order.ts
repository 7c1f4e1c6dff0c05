import type { NounName } from './nouns.ts';

/**
 * The order in which a transaction locks rows of several nouns, those of one noun in the order of their ids. So
 * operations that need the same rows wait for each other, and never each for the other.
 *
 * A noun comes after those that its rows name: to write such a row locks the row that it names. Otherwise the order is
 * free until a statement or a trigger locks rows of one noun while it holds those of another: that one comes later.
 */
export const lockOrder: readonly NounName[] = ['category', 'pet', 'inventory', 'order'];
