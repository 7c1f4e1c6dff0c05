import { expect, it } from '@jest/globals';

import { notFound } from '../../src/domain/errors.ts';
import type { Id } from '../../src/domain/id.ts';
import { parseInstant } from '../../src/domain/instant.ts';
import { referenceRule } from '../../src/domain/reference.ts';

const digits = '9'.repeat(70) as Id;
let refusal = '';
referenceRule({ noun: 'category', target: () => ({ byIds: async () => [] }) })(
  digits,
  (problem) => (refusal = problem),
);

it.each([
  ['an id', notFound('pet', digits).message],
  ['a reference', refusal],
  ['a text that is no date-time', String(parseInstant(digits))],
  ['an impossible date-time', String(parseInstant(`2026-02-30T00:00:00.${digits}Z`))],
])('a message never passes a part of what a client has sent off as the whole: %s', (_what, message) => {
  expect(message).toContain('…"');
  expect(message).not.toContain(digits);
});
