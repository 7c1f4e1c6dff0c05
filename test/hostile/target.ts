import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

import { Service } from '../support/service.ts';

interface Response {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** What one attack has done to the service. */
export interface Damage {
  /** How long /healthz took at most, beyond what it takes in peace: the event loop was blocked for so long. */
  readonly blockedMillis: number;
  /** How long the request of another key took at most. */
  readonly neighbourMillis: number;
  /** The most of heap and buffers that was seen, beyond what there was before. */
  readonly peakMegabytes: number;
  /** What is left of it. */
  readonly leftMegabytes: number;
  /** Lines of the log at `warn` or above. */
  readonly complaints: readonly string[];
}

const probeEveryMillis = 50;
const settleMillis = 20_000;
/** Less is the size of caches and of the garbage collector's own ideas. */
const harmlessMegabytes = 48;

/** The built service, a key that attacks it and one that suffers. */
export class Target {
  readonly service: Service;
  attacker = '';
  #neighbour = '';

  static async start(environment: Readonly<Record<string, string>>): Promise<Target> {
    const target = new Target(await Service.start(environment));
    target.attacker = await target.#createKey('attacker');
    target.#neighbour = await target.#createKey('neighbour');
    return target;
  }

  private constructor(service: Service) {
    this.service = service;
  }

  /** Sends a GraphQL request of the attacker, the text of the body as it is. */
  async graphql(body: string | { query: string; variables?: object }): Promise<Response> {
    return this.request('/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  }

  async request(path: string, init: RequestInit = {}, key = this.attacker): Promise<Response> {
    const headers = { 'x-api-key': key, ...(init.headers as Record<string, string> | undefined) };
    const response = await fetch(this.service.address + path, { ...init, headers });
    return { status: response.status, headers: response.headers, text: await response.text() };
  }

  /** Opens a connection and sends the text as it is. */
  async send(text: string | Buffer): Promise<Socket> {
    const socket = connect(this.service.port, '127.0.0.1');
    socket.on('error', () => undefined);
    await once(socket, 'connect').catch(() => undefined);
    if (!socket.destroyed) socket.write(text);
    return socket;
  }

  /** Does the attack, and looks at the service meanwhile and afterwards. */
  async suffer(attack: () => Promise<void>): Promise<Damage> {
    const before = await this.#megabytes();
    const logged = this.service.output.length;
    const calm = await this.#probe('/healthz');
    const attacking = new AbortController();
    let [blockedMillis, neighbourMillis, peak] = [0, 0, before];
    const watching = (async () => {
      while (!attacking.signal.aborted) {
        blockedMillis = Math.max(blockedMillis, (await this.#probe('/healthz')) - calm);
        neighbourMillis = Math.max(neighbourMillis, await this.#probe('/pets?limit=1'));
        peak = Math.max(peak, await this.#megabytes());
        await new Promise((resolve) => setTimeout(resolve, probeEveryMillis));
      }
    })();
    await attack().finally(() => attacking.abort());
    await watching;
    const left = await this.#settled(before);
    return {
      blockedMillis: Math.round(blockedMillis),
      neighbourMillis: Math.round(neighbourMillis),
      peakMegabytes: Math.round(peak - before),
      leftMegabytes: Math.round(left - before),
      complaints: this.service.output
        .slice(logged)
        .split('\n')
        .filter((line) => /"level":(?:40|50|60)/.test(line)),
    };
  }

  /** How long a request of the neighbour takes until it has succeeded; an overloaded service may ask it to try again. */
  async #probe(path: string): Promise<number> {
    const started = performance.now();
    for (;;) {
      const { status, headers, text } = await this.request(path, {}, this.#neighbour);
      if (status === 200) return performance.now() - started;
      if (status !== 503) throw new Error(`The neighbour's ${path} got ${status}: ${text.slice(0, 200)}`);
      await new Promise((resolve) => setTimeout(resolve, Number(headers.get('retry-after')) * 1_000));
    }
  }

  async #sendLargeBody(): Promise<void> {
    const headers = { 'x-api-key': this.#neighbour, 'content-type': 'application/json' };
    await this.request('/graphql', { method: 'POST', headers, body: ' '.repeat(2 ** 20) });
  }

  /** What is in use, without what may be garbage for a while, as soon as it is near what it was. */
  async #settled(before: number): Promise<number> {
    const deadline = performance.now() + settleMillis;
    let megabytes = await this.#megabytes();
    while (megabytes - before > harmlessMegabytes && performance.now() < deadline) {
      // Garbage is collected when there is work; that of bodies, outside V8's heap, when there are other bodies.
      await Promise.all(Array.from({ length: 20 }, async () => this.#probe('/pets?limit=100')));
      await Promise.all(Array.from({ length: 8 }, async () => this.#sendLargeBody()));
      megabytes = await this.#megabytes();
    }
    return megabytes;
  }

  async #megabytes(): Promise<number> {
    const { text } = await this.request('/metrics');
    const value = (name: string): number => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
    return (value('nodejs_heap_size_used_bytes') + value('nodejs_external_memory_bytes')) / 2 ** 20;
  }

  async #createKey(name: string): Promise<string> {
    const { body } = await this.service.graphql(
      `mutation ($name: String!) { createApiKey(input: { name: $name, plan: ENTERPRISE, scopes: [WRITE],
        requestsPerMinute: 2000000000, requestsPerDay: 2000000000 }) { secret } }`,
      { name },
    );
    return body.data.createApiKey.secret;
  }
}
