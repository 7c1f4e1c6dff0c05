import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

// Receivers of webhooks, in a process of their own: 204 for everything below /good, and never a response below /hung.
// Prints its port, and for each line of its input the latencies since the last one: an event's object says when it was
// changed.
// node test/bench/webhook-receivers-process.ts FOLDER-WITH-KEY-AND-CERTIFICATE

const [folder = ''] = process.argv.slice(2);
const [key, cert] = ['key.pem', 'cert.pem'].map((name) => readFileSync(join(folder, name)));
let latencies: number[] = [];

const server = createServer({ key, cert }, (request, response) => {
  if (request.url?.startsWith('/hung')) return;
  void text(request).then((body) => {
    const { data } = JSON.parse(body) as { data: { object?: { description?: string } } };
    latencies.push(Date.now() - Number(data.object?.description));
    response.writeHead(204).end();
  });
});
// Every address of 127.0.0.0/8: each is a host of its own to the service.
server.listen(0, '0.0.0.0', () => console.log(`https://127.0.0.1:${(server.address() as { port: number }).port}`));

process.stdin.on('data', () => {
  console.log(JSON.stringify(latencies));
  latencies = [];
});
process.stdin.on('end', () => process.exit());
