import type { Service } from '../support/service.ts';

const objects = 20;
const writers = 4;
const readers = 6;

interface Register {
  readonly id: string;
  /** The last value that was sent. */
  sent: number;
  /** The last one that was acknowledged: nothing older may be read from then on. */
  acknowledged: number;
}

type Headers = Readonly<Record<string, string>>;

interface Answer {
  readonly status: number;
  /** Of categories: each is its id and its value. */
  readonly names: readonly string[];
}

/** Each way to read the object, or all of them. */
const reads: readonly ((service: Service, id: string, headers: Headers) => Promise<Answer>)[] = [
  async (service, id, headers) => {
    const { status, body } = await service.get(`/categories/${id}`, headers);
    return { status, names: [body.name] };
  },
  async (service, id, headers) => {
    const query = 'query ($id: ID!) { category(id: $id) { name } }';
    const { status, body } = await service.post('/graphql', { query, variables: { id } }, headers);
    return { status, names: [body.data?.category?.name] };
  },
  async (service, _id, headers) => {
    const query = `{ categories(first: ${objects}) { nodes { name } } }`;
    const { status, body } = await service.post('/graphql', { query }, headers);
    const nodes: { name: string }[] = body.data?.categories?.nodes ?? [];
    return { status, names: nodes.map(({ name }) => name) };
  },
];

/**
 * Ten clients write and read objects through several processes, and every read is compared with what had been
 * acknowledged before it was asked for, whichever process had written it.
 */
export class History {
  readonly #services: readonly Service[];
  readonly #headers: Headers;
  readonly #registers: readonly Register[];
  #work: Promise<unknown> = Promise.resolve();
  #isOver = false;
  /** Reads that were older than an acknowledged write. */
  readonly stale: string[] = [];
  /** The statuses of responses that were no success. */
  readonly refusals = new Set<number>();
  /** How many values were compared. */
  compared = 0;

  static async begin(services: readonly [Service, ...Service[]]): Promise<History> {
    const [first] = services;
    const headers = { authorization: `Bearer ${await first.createKey()}` };
    const registers: Register[] = [];
    while (registers.length < objects) {
      const { body } = await first.post('/categories', { name: 'new' }, headers);
      registers.push({ id: String(body.id), sent: 0, acknowledged: 0 });
    }
    return new History(services, headers, registers);
  }

  private constructor(services: readonly Service[], headers: Headers, registers: readonly Register[]) {
    this.#services = services;
    this.#headers = headers;
    this.#registers = registers;
  }

  start(): void {
    this.#isOver = false;
    this.#work = Promise.all([
      ...Array.from({ length: writers }, (_, n) => this.#write(n)),
      ...Array.from({ length: readers }, (_, n) => this.#read(n)),
    ]);
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#work;
  }

  /** Each object has one writer, who writes it through each of the processes. */
  async #write(writer: number): Promise<void> {
    const own = this.#registers.filter((_, n) => n % writers === writer);
    for (let turn = 0; !this.#isOver; turn += 1) {
      const register = own[turn % own.length]!;
      const value = (register.sent += 1);
      const change = { name: `${register.id} ${value}` };
      const { status } = await this.#service(turn).patch(`/categories/${register.id}`, change, this.#headers);
      if (this.#isSuccess(status)) register.acknowledged = value;
    }
  }

  async #read(reader: number): Promise<void> {
    for (let turn = reader; !this.#isOver; turn += 1) {
      const { id } = this.#registers[(turn * 7) % objects]!;
      const expected = new Map(this.#registers.map((each) => [each.id, each.acknowledged]));
      const { status, names } = await reads[turn % reads.length]!(this.#service(turn), id, this.#headers);
      if (this.#isSuccess(status)) for (const name of names) this.#compare(name, expected);
    }
  }

  #compare(name: string, expected: ReadonlyMap<string, number>): void {
    const [id = '', value = 0] = name.split(' ');
    const acknowledged = expected.get(id) ?? 0;
    this.compared += 1;
    if (Number(value) < acknowledged) this.stale.push(`${id}: ${value} after ${acknowledged}`);
  }

  #isSuccess(status: number): boolean {
    if (status !== 200) this.refusals.add(status);
    return status === 200;
  }

  #service(turn: number): Service {
    return this.#services[turn % this.#services.length]!;
  }
}
