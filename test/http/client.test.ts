import { describe, expect, it } from '@jest/globals';

import { addressSubject, loggedAddress } from '../../src/http/client.ts';

describe('those without a valid key', () => {
  it.each([
    ['an IPv4 address', '192.0.2.7', 'address:192.0.2.7'],
    ['an IPv4 address as IPv6 writes it', '::ffff:192.0.2.7', 'address:192.0.2.7'],
    ['the same in hexadecimal', '::ffff:c000:207', 'address:192.0.2.7'],
    ['the same at full length', '0:0:0:0:0:FFFF:192.0.2.7', 'address:192.0.2.7'],
    ['an IPv6 address', '2001:db8:1:2:3:4:5:6', 'address:2001:db8:1:2::/64'],
    ['its neighbour', '2001:0DB8:0001:0002:ffff::1', 'address:2001:db8:1:2::/64'],
    ['one of another network', '2001:db8:1:3::1', 'address:2001:db8:1:3::/64'],
    ['a short one', '2001:db8::1', 'address:2001:db8:0:0::/64'],
    ['one with its interface', 'fe80::1%eth0', 'address:fe80:0:0:0::/64'],
    ['one with its port, as some proxies pass it on', '192.0.2.7:4711', 'address:192.0.2.7'],
    ['an IPv6 address with its port', '[2001:db8:1:2:3::6]:4711', 'address:2001:db8:1:2::/64'],
    ['the local one', '::1', 'address:0:0:0:0::/64'],
    ['no address at all', 'gibberish', 'address:unknown'],
  ])('are counted by what one client can not change at will: %s', (_, address, id) => {
    const limits = { requestsPerMinute: 60, requestsPerDay: 1_000 };
    expect(addressSubject(address)).toEqual({ id, limits, bans: undefined, isAnonymous: true });
  });
});

describe('in the log', () => {
  it.each([
    ['an IPv4 address', '192.0.2.7', '192.0.2.0/24'],
    ['an IPv4 address as IPv6 writes it', '::ffff:192.0.2.7', '192.0.2.0/24'],
    ['an IPv6 address', '2001:db8:1:2:3:4:5:6', '2001:db8:1::/48'],
    ['one with its interface', 'fe80::1:2%eth0', 'fe80::/48'],
  ])('is the network alone of %s, where that is asked for', (_, address, network) => {
    expect(loggedAddress(address, 'network')).toBe(network);
    expect([loggedAddress(address, 'full'), loggedAddress(address, 'off')]).toEqual([address, undefined]);
  });

  it.each([
    ['192.0.2.7:4711', '192.0.2.7', '192.0.2.0/24'],
    ['[2001:db8:1:2::6]:4711', '2001:db8:1:2::6', '2001:db8:1::/48'],
    ['gibberish', 'unknown', 'unknown'],
    ['1.2.3.4:55:66', 'unknown', 'unknown'],
    ['a'.repeat(10_000), 'unknown', 'unknown'],
  ])('is never what a header says unless it is an address: %.30s', (text, full, network) => {
    expect([loggedAddress(text, 'full'), loggedAddress(text, 'network')]).toEqual([full, network]);
  });

  it('is nothing of a connection that was reset', () => {
    expect(loggedAddress(undefined, 'network')).toBeUndefined();
  });
});
