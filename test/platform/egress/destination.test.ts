import { expect, it } from '@jest/globals';

import { Destinations } from '../../../src/platform/egress/index.ts';
import { type Answer, startNameServer } from './name-server.ts';

const forbidden = [
  '127.0.0.1',
  '10.0.0.1',
  '172.16.0.1',
  '192.168.1.1',
  '169.254.169.254',
  '100.64.0.1',
  '100.100.100.200',
  '0.0.0.0',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '192.0.0.192',
  '192.0.2.1',
  '198.18.0.1',
  '203.0.113.9',
  '168.63.129.16',
  '::1',
  '::',
  'fe80::1',
  'fc00::1',
  'fd00:ec2::254',
  'ff02::1',
  'fec0::1',
  '2001:db8::1',
  '::ffff:127.0.0.1',
  '::ffff:8.8.8.8',
  '::127.0.0.1',
  '64:ff9b::7f00:1',
  '64:ff9b:1::1',
  '2002:7f00:1::',
  '2001::1',
  '::ffff:0:127.0.0.1',
  '3fff::1',
  '100::1',
  '5f00::1',
  '4000::1',
  '2001:20::1',
  // ISATAP, and a network's own NAT64.
  '2a00:1450:4001:82a::5efe:10.0.0.1',
  '2a00:1450:4001:82a:200:5efe:8.8.8.8',
  '2a00:64::10.0.0.1',
  '2a00:64::127.0.0.1',
  '2a00:64::169.254.169.254',
  '2a00:64::168.63.129.16',
  'fe80::1%eth0',
  '2606:2800:21f:cb07:6820:80da:af6b:8b2c%eth0',
  'example.com',
  '',
];
const allowed = [
  '8.8.8.8',
  '93.184.215.14',
  '2606:2800:21f:cb07:6820:80da:af6b:8b2c',
  '2a00:1450:4001:82a::200e',
  '2a00:64::8.8.8.8',
  '2a00:64::1',
];

it('only public unicast addresses are allowed', () => {
  const destinations = new Destinations();
  expect(forbidden.filter((each) => destinations.isAllowed(each, true))).toEqual([]);
  expect(allowed.filter((each) => !destinations.isAllowed(each, true))).toEqual([]);
});

it('a network that an operator names is allowed, and nothing beside it', () => {
  const destinations = new Destinations({ allow: ['10.1.0.0/16', '::1/128'] });
  expect(['10.1.2.3', '::1', '10.2.0.1', '127.0.0.1'].map((each) => destinations.isAllowed(each, true))).toEqual([
    true,
    true,
    false,
    false,
  ]);
});

it.each([
  ['http://example.com/', 'does not begin with https://'],
  ['ftp://example.com/', 'does not begin with https://'],
  ['example.com', 'is not a URL, such as https://example.com/webhooks'],
  ['https://user:secret@example.com/', 'has a user or a password'],
  ['https://user@example.com/', 'has a user or a password'],
  ['https://example.com/#', 'has a fragment'],
  ['https://example.com:8080/', 'has a port other than 443, 8443'],
  [`https://example.com/${'a'.repeat(2_048)}`, 'has more than 2,048 characters'],
  // One address, as the URL standard reads it.
  ['https://127.0.0.1/', 'has an address that is not allowed'],
  ['https://0x7f.1/', 'has an address that is not allowed'],
  ['https://2130706433/', 'has an address that is not allowed'],
  ['https://017700000001/', 'has an address that is not allowed'],
  ['https://127.0.0.1./', 'has an address that is not allowed'],
  ['https://127.1/', 'has an address that is not allowed'],
  ['https://１２７.0.0.1/', 'has an address that is not allowed'],
  ['https://[::1]/', 'has an address that is not allowed'],
  ['https://[::ffff:7f00:1]/', 'has an address that is not allowed'],
  ['https://[64:ff9b::127.0.0.1]/', 'has an address that is not allowed'],
  ['https://[fe80::1%25eth0]/', 'is not a URL, such as https://example.com/webhooks'],
  ['https://168.63.129.16/', 'has an address that is not allowed'],
  // Ideographic full stops, percent-encoded digits, backslashes, and what comes before an @ in a path.
  ['https://127。0。0。1/', 'has an address that is not allowed'],
  ['https://%31%32%37.0.0.1/', 'has an address that is not allowed'],
  ['https:\\\\127.0.0.1\\hook', 'has an address that is not allowed'],
  ['https://127.0.0.1\\@example.com/', 'has an address that is not allowed'],
  [' https://127.0.0.1\t/\n', 'has an address that is not allowed'],
  ['https://example.com/', undefined],
  ['https://example.com.:8443/a?b=c', undefined],
  ['https://bücher.example/', undefined],
  ['https://8.8.8.8/', undefined],
])('%s %s', (url, refusal) => {
  expect(new Destinations({ ports: [8443] }).refusalOf(url, true)).toBe(refusal);
});

const answers: Readonly<Record<string, Answer>> = {
  'good.test': ['8.8.8.8', '2a00:1450:4001:82a::200e'],
  'only6.test': ['2a00:1450:4001:82a::200e'],
  'mixed.test': ['8.8.8.8', '127.0.0.1'],
  'mapped.test': ['8.8.8.8', '::ffff:127.0.0.1'],
  'xn--bcher-kva.test': ['8.8.4.4'],
  'silent.test': 'silent',
  'alias.test': { alias: 'metadata.internal', addresses: ['169.254.169.254'] },
  'many.test': [...Array.from({ length: 31 }, (_, index) => `8.8.8.${index}`), '10.0.0.1'],
  'more.test': Array.from({ length: 33 }, (_, index) => `8.8.8.${index}`),
};

async function outcomeOf(destinations: Destinations, url: string): Promise<unknown> {
  return destinations.addressesOf(new URL(url), true).catch((error: unknown) => String(error));
}

it('every address that a name has must be allowed; a name that has none is a failure', async () => {
  const destinations = new Destinations({ nameServers: [await startNameServer((name) => answers[name])] });
  const outcomes = ['good', 'only6', 'mixed', 'mapped', 'bücher', 'silent', 'missing', 'alias', 'many', 'more'].map(
    (name) => outcomeOf(destinations, `https://${name}.test/`),
  );
  expect(await Promise.all(outcomes)).toEqual([
    ['8.8.8.8', '2a00:1450:4001:82a::200e'],
    ['2a00:1450:4001:82a::200e'],
    'DestinationError: FORBIDDEN_ADDRESS',
    'DestinationError: FORBIDDEN_ADDRESS',
    ['8.8.4.4'],
    'DestinationError: DNS',
    'DestinationError: DNS',
    'DestinationError: FORBIDDEN_ADDRESS',
    'DestinationError: FORBIDDEN_ADDRESS',
    'DestinationError: DNS',
  ]);
  expect(await outcomeOf(destinations, 'https://localhost/')).toBe('DestinationError: FORBIDDEN_ADDRESS');
  expect(await outcomeOf(destinations, 'https://a.localhost./')).toBe('DestinationError: FORBIDDEN_ADDRESS');
});
