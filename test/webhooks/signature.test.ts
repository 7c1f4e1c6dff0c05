import { expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';

import { deriveSecret, signatureHeaders } from '../../src/webhooks/signature.ts';

it('a signature is good for each of its secrets, and for no other secret, time or body', () => {
  const [first, second, other] = [1, 2, 3].map((fill) => deriveSecret(Buffer.alloc(32, fill), 'a'));
  const seconds = Math.floor(Date.now() / 1000);
  const headers = signatureHeaders('evt', seconds, '{}', [first!, second!]);
  const isGood = (secret: string, change: Record<string, string> = {}, body = '{}'): boolean => {
    try {
      new Webhook(secret).verify(body, { ...headers, ...change });
      return true;
    } catch {
      return false;
    }
  };
  expect([first, second, other].map((secret) => isGood(secret!))).toEqual([true, true, false]);
  expect(isGood(first!, { 'webhook-timestamp': String(seconds + 1) })).toBe(false);
  expect(isGood(first!, { 'webhook-id': 'evu' })).toBe(false);
  expect(isGood(first!, {}, '{ }')).toBe(false);
  const old = signatureHeaders('evt', seconds - 600, '{}', [first!]);
  expect(isGood(first!, old)).toBe(false);
  expect(deriveSecret(Buffer.alloc(32, 1), 'b')).not.toBe(first);
});
