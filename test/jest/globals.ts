import type * as jestGlobals from '@jest/globals';

export type Globals = Omit<typeof jestGlobals, 'jest'>;

const key = Symbol.for('petstore.jest-globals');
const holder = globalThis as { [key]?: Globals };

/** Sets what the test file that is loaded next gets for `@jest/globals`. */
export function useGlobals(globals: Globals): void {
  holder[key] = globals;
}

export const { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, test } =
  holder[key] ?? ({} as Globals);
