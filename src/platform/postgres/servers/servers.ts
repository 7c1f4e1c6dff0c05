import type { LookupAddress } from 'node:dns';

import { type Accounts, service, Share } from '../../callers/index.ts';
import { inBackground } from '../../background.ts';
import { type ConnectionConfig, targetsOf } from './connection-config.ts';
import { ConnectionFailure, readOnlyState } from '../connection-failure.ts';
import { PgConnection } from '../connection.ts';
import type { OpenOptions } from '../connection-options.ts';
import { AllFailed, firstFailure, firstToSucceed } from './first-to-succeed.ts';
import { addressesOf } from './server-address.ts';

/** The last known state of a host. */
type ServerRole = 'primary' | 'standby' | 'unreachable' | 'unknown';

export interface ServerFigure {
  /** As the configuration names it, with its port. */
  readonly host: string;
  readonly role: ServerRole;
}

/** The database is written to on another server than before. */
export interface ServerChange {
  readonly from: string;
  readonly to: string;
}

export interface ServersOptions {
  readonly config: ConnectionConfig;
  readonly accounts: Accounts;
  /** While requests wait for a connection: a round takes less time, and one without success is followed by a pause. */
  readonly isServing?: boolean;
}

interface Server {
  readonly address: LookupAddress | undefined;
  /** When it last failed; 0 when it hasn't since it last succeeded. */
  failedAt: number;
  /** How often its connections have been retired. */
  retirements: number;
}

interface Host {
  readonly name: string;
  readonly host: string;
  readonly port: number;
  readonly servers: Map<string, Server>;
  failedAt: number;
  role: ServerRole;
}

/** Until the next address is tried, as long as the one before has not failed. */
const delayMillis = 300;
/** Until a host that has failed is tried again in the same round, as long as another has not ended. */
const retryMillis = 200;
/** For a round. */
const totalMillis = 5_000;
/** The same while requests wait: with the wait for a response it keeps within their five seconds. */
const servingMillis = 2_800;
const maxOpening = 4;
/** The pause after a round without success is a random time between these. */
const minPauseMillis = 50;
const maxPauseMillis = 250;

/**
 * The servers of one database, of which at most one takes writes, and which of them a new connection goes to.
 *
 * Model: the configuration names hosts, and each has the addresses that its name has now: a `Server` is one address and
 * port. A connection is opened to the first server that is suitable (`target_session_attrs`); they are tried in the
 * order given, or in random order, and those that failed last after the others. The next one is begun when one
 * fails, or after 300 ms; an address has `connect_timeout`, all of them 5 s.
 * Guarantees: a connection to a server that was found read-only, or silent, or that another has replaced, is not used
 * again (`isCurrent`), and none is that was opened before `renew`. At most four connections are opened at a time, and
 * after a round without success none is for a random moment, so that neither a server that has just been promoted nor
 * one that is in trouble gets all of them at once.
 * Failure: without a suitable server every `open` fails with ConnectionFailure, the last round's while the pause lasts.
 */
export class Servers {
  readonly #config: ConnectionConfig;
  readonly #isServing: boolean;
  readonly #hosts: readonly Host[];
  /** Connections that are being opened. */
  readonly #opening: Share;
  readonly #retireListeners = new Set<() => void>();
  readonly #changeListeners = new Set<(change: ServerChange) => void>();
  /** The one that takes writes, and its host. */
  #current: { readonly server: Server; readonly host: Host } | undefined;
  /** How often all connections have been retired. */
  #renewals = 0;
  #pausedUntil = 0;
  #failure: ConnectionFailure | undefined;

  constructor({ config, accounts, isServing = false }: ServersOptions) {
    this.#config = config;
    this.#isServing = isServing;
    this.#opening = new Share(accounts, {
      ofClient: maxOpening,
      ofAll: maxOpening,
      waitMillis: totalMillis,
      refuse: () => new ConnectionFailure(new Error('No connection in time')),
    });
    this.#hosts = targetsOf(config).map(({ name, host, port }) => {
      return { name, host, port, servers: new Map(), failedAt: 0, role: 'unknown' };
    });
  }

  get figures(): readonly ServerFigure[] {
    return this.#hosts.map(({ name, role }) => ({ host: name, role }));
  }

  /** No connection is used again: what is prepared on them is outdated, or they lead to another server by now. */
  renew(): void {
    this.#renewals += 1;
    for (const listener of this.#retireListeners) listener();
  }

  /** Calls the listener when connections are not to be used again. */
  onRetire(listener: () => void): void {
    this.#retireListeners.add(listener);
  }

  onChange(listener: (change: ServerChange) => void): void {
    this.#changeListeners.add(listener);
  }

  /** Throws ConnectionFailure; a wait ends early when the signal is aborted. */
  async open(options: OpenOptions, signal: AbortSignal): Promise<PgConnection> {
    this.#throwIfPaused();
    const lease = await this.#opening.take({ id: service });
    const total = this.#isServing ? servingMillis : totalMillis;
    const millis = this.#hosts.length > 1 ? total : Math.max(total, options.connectTimeoutMillis);
    try {
      this.#throwIfPaused();
      const ending = AbortSignal.any([signal, AbortSignal.timeout(millis)]);
      const attempts = this.#ordered(this.#hosts).map(
        (host) => (over: AbortSignal) => this.#openHost(host, options, over),
      );
      return await firstToSucceed(attempts, { delayMillis, retryMillis, signal: ending, discard });
    } catch (error) {
      throw this.#failed(error);
    } finally {
      lease.release();
    }
  }

  #throwIfPaused(): void {
    if (this.#failure !== undefined && performance.now() < this.#pausedUntil) throw this.#failure;
  }

  #failed(error: unknown): ConnectionFailure {
    // The pause of another's round.
    if (error instanceof ConnectionFailure) return error;
    const cause = this.#describe(error);
    const failure = cause instanceof ConnectionFailure ? cause : new ConnectionFailure(cause);
    if (this.#isServing) {
      this.#failure = failure;
      this.#pausedUntil = performance.now() + minPauseMillis + Math.random() * (maxPauseMillis - minPauseMillis);
    }
    return failure;
  }

  /** Of several hosts each failure, with the code that decides: a wrong password is no reason to wait, a standby is. */
  #describe(error: unknown): unknown {
    const failures = (error instanceof AllFailed ? error.errors : [error]).map(firstFailure);
    if (failures.length < 2) return failures[0] ?? error;
    const codes = failures.map((each) => String((each as { code?: unknown }).code));
    const code =
      codes.find((each) => /^(?:28|3D)/.test(each)) ?? codes.find((each) => each === readOnlyState) ?? codes[0];
    const messages = failures.map((each) => (each as Error).message);
    return Object.assign(new Error(messages.join('; '), { cause: error }), { code });
  }

  async #openHost(host: Host, options: OpenOptions, signal: AbortSignal): Promise<PgConnection> {
    signal.throwIfAborted();
    const servers = await this.#resolve(host, signal);
    const attempts = this.#ordered(servers).map(
      (server) => (ending: AbortSignal) => this.#openServer(host, server, options, ending),
    );
    return firstToSucceed(attempts, { delayMillis, signal, discard });
  }

  /** The addresses that the name has now. What is known of others is forgotten. */
  async #resolve(host: Host, signal: AbortSignal): Promise<readonly Server[]> {
    const found = await addressesOf(host.host, signal).catch((error: unknown) => {
      if (!signal.aborted) fail(host);
      throw error;
    });
    const names = new Set(found.map((address) => address?.address ?? ''));
    for (const name of host.servers.keys()) if (!names.has(name)) host.servers.delete(name);
    return found.map((address) => {
      const name = address?.address ?? '';
      const server = host.servers.get(name) ?? { address, failedAt: 0, retirements: 0 };
      host.servers.set(name, server);
      return server;
    });
  }

  async #openServer(host: Host, server: Server, options: OpenOptions, signal: AbortSignal): Promise<PgConnection> {
    signal.throwIfAborted();
    const { retirements } = server;
    const renewals = this.#renewals;
    const startedAt = performance.now();
    const connection = new PgConnection({
      ...options,
      config: { ...this.#config, host: host.host, port: host.port },
      address: server.address,
      isCurrent: () => retirements === server.retirements && renewals === this.#renewals,
      onReadOnly: () => this.#retire(host, server, 'standby'),
      onTimeout: () => this.#retire(host, server, 'unreachable'),
    });
    try {
      await connection.open(signal);
    } catch (error) {
      const isReadOnly = (error as { code?: unknown }).code === readOnlyState;
      if (isReadOnly) this.#retire(host, server, 'standby');
      // A server whose attempt was aborted soon after its start may be in order.
      else if (!signal.aborted || performance.now() - startedAt >= delayMillis) fail(host, server);
      throw error;
    }
    this.#accept(host, server, connection.session.isReadOnly);
    return connection;
  }

  /** A server replaces another only when that one has failed: the addresses of a name may be poolers of one server. */
  #accept(host: Host, server: Server, isReadOnly: boolean): void {
    host.failedAt = 0;
    server.failedAt = 0;
    host.role = isReadOnly ? 'standby' : 'primary';
    this.#failure = undefined;
    const current = this.#current;
    if (isReadOnly || current?.server === server || current?.server.failedAt === 0) return;
    this.#current = { server, host };
    if (current === undefined) return;
    this.#end(current.server);
    for (const listener of this.#changeListeners) listener({ from: nameOf(current), to: nameOf(this.#current) });
  }

  /** Its connections are not used any more. */
  #retire(host: Host, server: Server, role: 'standby' | 'unreachable'): void {
    fail(host, server, role);
    this.#end(server);
  }

  #end(server: Server): void {
    server.retirements += 1;
    for (const listener of this.#retireListeners) listener();
  }

  #ordered<Candidate extends Host | Server>(candidates: readonly Candidate[]): Candidate[] {
    const order = this.#config.isBalanced === true ? shuffled(candidates) : [...candidates];
    return order.toSorted((a, b) => a.failedAt - b.failedAt);
  }
}

function nameOf({ host, server }: { readonly host: Host; readonly server: Server }): string {
  const address = server.address?.address;
  return address === undefined || address === host.host ? host.name : `${host.name} (${address})`;
}

function fail(host: Host, server?: Server, role: 'standby' | 'unreachable' = 'unreachable'): void {
  const now = performance.now();
  host.failedAt = now;
  host.role = role;
  if (server !== undefined) server.failedAt = now;
}

function discard(connection: PgConnection): void {
  inBackground(connection.close());
}

function shuffled<Candidate>(candidates: readonly Candidate[]): Candidate[] {
  return candidates
    .map((candidate) => ({ candidate, at: Math.random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ candidate }) => candidate);
}
