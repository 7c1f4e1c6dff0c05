import { setTimeout as wait } from 'node:timers/promises';

import type { Service } from '../../support/service.ts';
import type { Seen } from './outages.ts';

/** Between two operations of one client. */
const pauseMillis = 100;
/** Between two tries of one operation. */
const retryMillis = 50;
const maxTries = 3_000;

export interface Order {
  readonly petId: number;
  readonly quantity: number;
  /** Undefined until the service has acknowledged it. */
  id?: string;
}

type Received = Awaited<ReturnType<Service['get']>>;

const headersOf = (secret: string) => ({ authorization: `Bearer ${secret}` });

/** Whether it says that the same request may succeed later. */
const isRefusal = (status: number): boolean => status === 503 || status === 409;

/** Clients of both protocols, each of which goes from process to process, and repeats what was refused with its key. */
export class Load {
  readonly orders: Order[] = [];
  /** Reads that were older than what the reader itself had written. */
  readonly stale: string[] = [];
  readonly unexpected: string[] = [];
  #seen: Seen[] = [];
  readonly #services: readonly Service[];
  readonly #secret: string;
  #requests = 0;
  #isStopped = false;
  #work: Promise<unknown> = Promise.resolve();

  constructor(services: readonly Service[], secret: string) {
    this.#services = services;
    this.#secret = secret;
  }

  /** One client for each pet; only it changes the pet's inventory, to greater and greater numbers. */
  start(petIds: readonly number[]): void {
    this.#work = Promise.all(petIds.map((petId) => this.#client(petId)));
  }

  /** Resolves when what is under way has been acknowledged. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#work;
  }

  /** Resolves when each process has responded so many times to requests begun from now on, and never with 503. */
  async flows(): Promise<void> {
    const count = 10 * this.#services.length;
    for (let from = performance.now(); ; await wait(retryMillis)) {
      const since = this.#seen.filter(({ startedAt }) => startedAt >= from);
      const refused = since.findLast(({ status }) => status === 503);
      if (refused !== undefined) from = refused.endedAt;
      else if (since.length >= count) return;
    }
  }

  /** What clients have seen since this was called before. */
  seen(): readonly Seen[] {
    const seen = this.#seen;
    this.#seen = [];
    return seen;
  }

  /** Sends it to another process each time, until it isn't refused. */
  async send(ask: (service: Service) => Promise<Received>): Promise<Received> {
    for (let tries = 0; tries < maxTries; tries += 1) {
      const service = this.#services[this.#requests++ % this.#services.length]!;
      const startedAt = performance.now();
      const response = await ask(service);
      const status = statusOf(response);
      this.#seen.push({ startedAt, endedAt: performance.now(), status });
      if (!isRefusal(status)) {
        if (status >= 300) this.unexpected.push(`${status} ${JSON.stringify(response.body)}`);
        return response;
      }
      await wait(retryMillis * (0.5 + Math.random()));
    }
    throw new Error(`Refused ${maxTries} times.`);
  }

  async #client(petId: number): Promise<void> {
    for (let n = 1; !this.#isStopped; n += 1) {
      if (n % 2 === 0) await this.#order(petId, n);
      else await this.#count(petId, n);
      await wait(pauseMillis * (0.5 + Math.random()));
    }
  }

  /** Orders by one protocol, and reads the order by the other. */
  async #order(petId: number, n: number): Promise<void> {
    const order: Order = { petId, quantity: n };
    this.orders.push(order);
    const headers = { ...headersOf(this.#secret), 'idempotency-key': `${petId} ${n}` };
    const isRest = n % 4 === 0;
    const query = `mutation { createOrder(input: { petId: ${petId}, quantity: ${n} }) { order { id } } }`;
    const { body } = await this.send((service) =>
      isRest
        ? service.post('/store/orders', { petId, quantity: n }, headers)
        : service.post('/graphql', { query }, headers),
    );
    const id = String(isRest ? body.id : body.data?.createOrder?.order?.id);
    order.id = id;
    const read = await this.send((service) =>
      isRest
        ? service.graphql(`{ order(id: ${id}) { quantity } }`, {}, this.#secret)
        : service.get(`/store/orders/${id}`, headersOf(this.#secret)),
    );
    const quantity = isRest ? read.body.data?.order?.quantity : read.body.quantity;
    if (quantity !== n) this.stale.push(`order ${id} of pet ${petId}: ${quantity}, not ${n}`);
  }

  /** Changes the inventory by one protocol, and reads it by the other. */
  async #count(petId: number, n: number): Promise<void> {
    const isRest = n % 4 === 1;
    const headers = { ...headersOf(this.#secret), 'idempotency-key': `${petId} ${n}` };
    const query = `mutation { updateInventory(input: { petId: ${petId}, quantity: ${n} }) { inventoryItem { quantity } } }`;
    await this.send((service) =>
      isRest
        ? service.patch(`/inventory/${petId}`, { quantity: n }, headersOf(this.#secret))
        : service.post('/graphql', { query }, headers),
    );
    const read = await this.send((service) =>
      isRest
        ? service.graphql(`{ inventoryItem(petId: ${petId}) { quantity } }`, {}, this.#secret)
        : service.get(`/inventory/${petId}`, headersOf(this.#secret)),
    );
    const quantity = isRest ? read.body.data?.inventoryItem?.quantity : read.body.quantity;
    if (quantity !== n) this.stale.push(`inventory of pet ${petId}: ${quantity}, not ${n}`);
  }
}

/** A field's failure has a status of its own in a response with the status 200. */
function statusOf({ status, body }: Received): number {
  return body?.errors?.[0]?.extensions?.status ?? status;
}
