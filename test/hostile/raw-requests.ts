import type { Socket } from 'node:net';

import type { Door } from './target.ts';

export const mebibyte = 2 ** 20;

/** `200 ×3, 429` */
export function summary(outcomes: readonly unknown[]): string {
  const counts = new Map<string, number>();
  for (const outcome of outcomes) counts.set(String(outcome), (counts.get(String(outcome)) ?? 0) + 1);
  return [...counts]
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([outcome, count]) => (count === 1 ? outcome : `${outcome} ×${count}`))
    .join(', ');
}

export const times = <Item>(count: number, make: (index: number) => Item): Item[] =>
  Array.from({ length: count }, (_, index) => make(index));

export async function pause(seconds: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
}

export const get = ({ attacker }: Door, path: string, key = attacker): string =>
  `GET ${path} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\n\r\n`;

export const post = ({ attacker }: Door, path: string, body: string, key = attacker): string =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

/** The status of the first response on the connection, or `closed`. */
export function statusOn(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    socket.once('data', (chunk: Buffer) => resolve(String(chunk.subarray(9, 12))));
    socket.once('close', () => resolve('closed'));
    if (socket.closed) resolve('closed');
  });
}

/** Sends each text on a connection of its own, and disconnects in different ways before there can be a response. */
export async function disconnectAfter(door: Door, texts: readonly string[]): Promise<string> {
  await Promise.all(
    texts.map(async (text, index) => {
      const socket = await door.send(text);
      if (index % 4 === 0) return socket.destroy();
      if (index % 4 === 1) return socket.end();
      await pause(Math.random() / 50);
      return socket.resetAndDestroy();
    }),
  );
  return `${texts.length} disconnected`;
}

/** Opens connections, sends the texts on them and reads nothing. */
export async function openUnread(door: Door, texts: readonly string[]): Promise<Socket[]> {
  const sockets: Socket[] = [];
  for (const text of texts) sockets.push((await door.send(text)).pause());
  return sockets;
}

/** The same, for a while. */
export async function leaveUnread(door: Door, texts: readonly string[], seconds = 2): Promise<string> {
  const sockets = await openUnread(door, texts);
  await pause(seconds);
  for (const socket of sockets) socket.resetAndDestroy();
  const bytes = texts.reduce((sum, text) => sum + text.length, 0);
  return `${texts.length} connections, ${Math.round(bytes / 1000)} kB sent`;
}

/** Sends all but the last byte of each request, then that of all at once. */
export async function holdBack(door: Door, requests: readonly string[]): Promise<string> {
  const sockets = await Promise.all(requests.map((text) => door.send(text.slice(0, -1))));
  const statuses = sockets.map((socket) => statusOn(socket));
  await pause(0.5);
  for (const [index, socket] of sockets.entries()) socket.write(requests[index]!.slice(-1));
  const outcomes = await Promise.all(statuses);
  for (const socket of sockets) socket.destroy();
  return summary(outcomes);
}
