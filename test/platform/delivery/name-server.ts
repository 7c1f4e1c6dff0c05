import { createSocket } from 'node:dgram';
import { once } from 'node:events';

import ipaddr from 'ipaddr.js';

import { atEnd } from '../../support/at-end.ts';

/** What a name has: addresses, or no response at all. */
export type Answer = readonly string[] | 'silent';

const typeA = 1;
const typeAaaa = 28;
const nameError = 3;

/** A DNS server (RFC 1035) on loopback that answers as it likes; unknown names don't exist. */
export async function startNameServer(answerOf: (name: string) => Answer | undefined): Promise<string> {
  const socket = createSocket('udp4');
  socket.on('message', (query, { port, address }) => {
    const { name, type, end } = questionOf(query);
    const answer = answerOf(name);
    if (answer === 'silent') return;
    const addresses = (answer ?? []).map((each) => ipaddr.parse(each));
    const records = addresses
      .filter((each) => (each.kind() === 'ipv4' ? typeA : typeAaaa) === type)
      .map((each) => recordOf(type, each.toByteArray()));
    const header = Buffer.from(query.subarray(0, 12));
    header.writeUInt16BE(0x8180 | (answer === undefined ? nameError : 0), 2);
    header.writeUInt16BE(records.length, 6);
    header.writeUInt32BE(0, 8);
    socket.send(Buffer.concat([header, query.subarray(12, end), ...records]), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  atEnd(() => socket.close());
  const { port } = socket.address();
  return `127.0.0.1:${port}`;
}

function questionOf(query: Buffer): { readonly name: string; readonly type: number; readonly end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

/** With a time to live of 0, for the name in the question. */
function recordOf(type: number, address: readonly number[]): Buffer {
  const record = Buffer.alloc(12);
  record.writeUInt16BE(0xc00c, 0);
  record.writeUInt16BE(type, 2);
  record.writeUInt16BE(1, 4);
  record.writeUInt16BE(address.length, 10);
  return Buffer.concat([record, Buffer.from(address)]);
}
