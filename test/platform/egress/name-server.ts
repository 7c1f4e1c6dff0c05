import { createSocket } from 'node:dgram';
import { once } from 'node:events';

import ipaddr from 'ipaddr.js';

import { atEnd } from '../../support/at-end.ts';

/** What a name has: addresses, with another name that they are of, or no response at all. */
export type Answer = readonly string[] | Alias | 'silent';

interface Alias {
  readonly alias: string;
  readonly addresses: readonly string[];
}

const typeA = 1;
const typeCname = 5;
const typeAaaa = 28;
const nameError = 3;

/** A DNS server (RFC 1035) on loopback that answers as it likes; unknown names don't exist. */
export async function startNameServer(answerOf: (name: string) => Answer | undefined): Promise<string> {
  const socket = createSocket('udp4');
  socket.on('message', (query, { port, address }) => {
    const { name, type, end } = questionOf(query);
    const answer = answerOf(name);
    if (answer === 'silent') return;
    const { alias, addresses } = isAlias(answer) ? answer : { alias: undefined, addresses: answer ?? [] };
    const owner = alias === undefined ? question : encodeName(alias);
    const records = addresses
      .map((each) => ipaddr.parse(each))
      .filter((each) => (each.kind() === 'ipv4' ? typeA : typeAaaa) === type)
      .map((each) => recordOf(owner, type, each.toByteArray()));
    if (alias !== undefined) records.unshift(recordOf(question, typeCname, [...owner]));
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

function isAlias(answer: Answer | undefined): answer is Alias {
  return typeof answer === 'object' && 'alias' in answer;
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

/** A pointer to the name in the question. */
const question = Buffer.from([0xc0, 0x0c]);

function encodeName(name: string): Buffer {
  const labels = name.split('.').map((label) => Buffer.from(`${String.fromCharCode(label.length)}${label}`, 'latin1'));
  return Buffer.concat([...labels, Buffer.alloc(1)]);
}

/** With a time to live of 0. */
function recordOf(owner: Buffer, type: number, content: readonly number[]): Buffer {
  const record = Buffer.alloc(10);
  record.writeUInt16BE(type, 0);
  record.writeUInt16BE(1, 2);
  record.writeUInt16BE(content.length, 8);
  return Buffer.concat([owner, record, Buffer.from(content)]);
}
