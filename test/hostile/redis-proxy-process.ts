import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

import type { RedisReplies } from './redis-proxy.ts';

/**
 * Between the service and Redis (its port is the argument). A process of its own, so that no request waits here for
 * what the attacks compute.
 */
const redisPort = Number(process.argv[2]);
const sockets = new Set<Socket>();
let replies: RedisReplies = {};

const server = createServer((client) => {
  const redis = connect(redisPort, '127.0.0.1');
  sockets.add(client);
  client.once('close', () => {
    sockets.delete(client);
    redis.destroy();
  });
  redis.once('close', () => client.destroy());
  client
    .on('error', () => undefined)
    .on('data', (chunk: Buffer) => {
      if (replies.nonsense === undefined) redis.write(chunk);
      else client.write(replies.nonsense.repeat(String(chunk).match(/^\*\d+\r\n\$/gm)?.length ?? 0));
    });
  redis
    .on('error', () => undefined)
    .on('data', (chunk) => {
      if (replies.delayMillis === undefined) client.write(chunk);
      else setTimeout(() => client.destroyed || client.write(chunk), replies.delayMillis);
    });
});
server.listen(0, '127.0.0.1', () => process.send!((server.address() as AddressInfo).port));

process.on('message', (wanted: RedisReplies) => {
  // Redis' own again, on new connections.
  if (replies.nonsense !== undefined && wanted.nonsense === undefined) for (const socket of sockets) socket.destroy();
  replies = wanted;
  process.send!('done');
});
process.on('disconnect', () => process.exit());
