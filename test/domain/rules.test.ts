import { describe, expect, it } from '@jest/globals';

import type { Rule } from '../../src/domain/input.ts';
import { searchTextRule } from '../../src/domain/rules.ts';

function apply<Raw, Kept>(rule: Rule<Raw, Kept>, value: Raw): { kept: Kept; problems: string[] } {
  const problems: string[] = [];
  return { kept: rule(value, (problem) => problems.push(problem)), problems };
}

describe('a search text', () => {
  it('is whatever PostgreSQL can take', () => {
    expect(apply(searchTextRule, '%_\\ \n')).toEqual({ kept: '%_\\ \n', problems: [] });
    expect(apply(searchTextRule, '🐕'.repeat(255)).problems).toEqual([]);
    expect(apply(searchTextRule, '🐕'.repeat(256)).problems).toEqual(['must have at most 255 characters, not 256.']);
    // No characters are counted of what a request may send a thousand times.
    expect(apply(searchTextRule, '🐕'.repeat(5_001)).problems).toEqual([
      'must have at most 255 characters, not 10002.',
    ]);
    expect(apply(searchTextRule, 'a\u0000').problems).toHaveLength(1);
    expect(apply(searchTextRule, '\ud83d').problems).toHaveLength(1);
  });
});
