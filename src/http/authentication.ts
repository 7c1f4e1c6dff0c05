import type { FastifyReply, FastifyRequest } from 'fastify';

import type { KeyDirectory } from '../keys/key-directory.ts';
import type { PlanName } from '../domain/access/plan.ts';
import type { Principal } from '../domain/access/principal.ts';
import { type DomainError, validationFailed } from '../domain/errors.ts';
import { addressSubject, type SentKey, sentKey } from './client.ts';
import { type QuotaDecision, type QuotaService, secondsUntil } from '../platform/quotas/index.ts';
import { bearerChallenge } from './error-codes.ts';
import { HttpError } from './error-table.ts';
import type { SpentQuota } from './observe/request-log.ts';
import { costHeaderName, quotaHeaders } from './quota-headers.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The holder of the key: set for every authenticated request of the API. */
    principal: Principal;
    /** Only on routes that spend the cost themselves. */
    meter: Meter;
    /** What it has taken from the quota of its key, or why that refused it; unset before that is known. */
    charge: RequestCharge | undefined;
  }
}

interface RequestCharge {
  readonly cost: number;
  readonly refusal?: QuotaRefusal | undefined;
}

interface QuotaRefusal {
  /** Undefined for a ban. */
  readonly quota?: SpentQuota;
  readonly retryAfterSeconds: number;
}

export interface AuthenticationOptions {
  readonly keys: Pick<KeyDirectory, 'find'>;
  readonly quota: Pick<QuotaService, 'consume' | 'consumeFree' | 'countRefusedOpening' | 'check' | 'peek'>;
  /** Called with every decision; `none` is the plan of requests without a key. */
  readonly onDecision?: ((plan: Plan, outcome: QuotaDecision['outcome']) => void) | undefined;
}

type Plan = PlanName | 'none';

/** Authenticates each request of the API and spends its quota before its body is read; sets the quota headers. */
export class Authentication {
  readonly #options: AuthenticationOptions;

  constructor(options: AuthenticationOptions) {
    this.#options = options;
  }

  /** A request costs 1, unless its route is metered. Throws UNAUTHORIZED, KEY_BANNED or RATE_LIMITED. */
  async admit(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { quota } = this.#options;
    const sent = sentKey(request.raw);
    const principal = await this.#find(sent, request, reply);
    if (principal === undefined) {
      // Counted, to limit guesses of keys.
      settle(this.#options, 'none', await quota.consume(addressSubject(request.ip), 1), reply, 1);
      throw unauthorized(sent, request.headers.upgrade);
    }
    request.principal = principal;
    const { plan } = principal;
    if (request.route.config.isMeteredByRoute === true) {
      const decision = await quota.check(principal);
      // The quota headers are set when the cost has been spent.
      if (decision.outcome !== 'admitted') settle(this.#options, plan, decision, reply, 1);
      request.meter = new Meter(this.#options, principal, reply);
    } else {
      settle(this.#options, plan, await quota.consume(principal, 1), reply, 1);
    }
  }

  /** Never throws. Before authentication those of the address: a key's would show for free whether it is valid. */
  async headersFor(address: string | undefined, principal?: Principal): Promise<Record<string, string>> {
    return quotaHeaders(await this.#options.quota.peek(principal ?? addressSubject(address)));
  }

  async #find(sent: SentKey, request: FastifyRequest, reply: FastifyReply): Promise<Principal | undefined> {
    if (sent === undefined || 'fault' in sent) return undefined;
    try {
      return await this.#options.keys.find(sent.key, request.socket);
    } catch (error) {
      void reply.headers(await this.headersFor(request.ip));
      throw error;
    }
  }
}

type RefusedDecision = Extract<QuotaDecision, { outcome: 'refused' }>;

type MeterOptions = Omit<AuthenticationOptions, 'keys'>;

/** Sets the quota headers, and throws unless the request is admitted. */
function settle(
  { onDecision }: MeterOptions,
  plan: Plan,
  decision: QuotaDecision,
  reply: FastifyReply,
  cost: number,
): void {
  onDecision?.(plan, decision.outcome);
  reply.request.charge = chargeOf(decision, cost, reply.request.charge?.cost ?? 0);
  void reply.headers(quotaHeaders(decision));
  if (decision.outcome !== 'admitted') throw refusalOf(decision);
}

/** `spent` is what the request has taken before. */
function chargeOf(decision: QuotaDecision, cost: number, spent: number): RequestCharge {
  switch (decision.outcome) {
    case 'admitted':
      return { cost };
    case 'too_costly':
      return { cost: 1 };
    case 'banned':
      return { cost: spent, refusal: { retryAfterSeconds: decision.retryAfterSeconds } };
    case 'refused': {
      const { retryAfterSeconds } = decision;
      return { cost: spent, refusal: { quota: spentQuotaOf(decision), retryAfterSeconds } };
    }
  }
}

interface Spent {
  readonly cost: number;
  readonly decision: QuotaDecision;
}

/** Spends the cost that the route has computed, once per request. */
export class Meter {
  readonly #options: MeterOptions;
  readonly #principal: Principal;
  readonly #reply: FastifyReply;
  #spent: Promise<Spent> | undefined;

  constructor(options: MeterOptions, principal: Principal, reply: FastifyReply) {
    this.#options = options;
    this.#principal = principal;
    this.#reply = reply;
  }

  /** Throws as `spend` does when the quota has been spent by other requests in the meantime. */
  async requireLeft(): Promise<void> {
    if (hasNothingLeft(await this.#options.quota.peek(this.#principal))) await this.spend();
  }

  /** For an event stream that is refused after `spend`. Throws KEY_BANNED when it is one refusal too many. */
  async countRefusedOpening(): Promise<void> {
    const counted = await this.#options.quota.countRefusedOpening(this.#principal);
    if (counted.outcome === 'banned') this.#settle(counted, 1);
  }

  /** 0 is free only so often, then 1. Throws RATE_LIMITED, KEY_BANNED, or VALIDATION_FAILED beyond a window. */
  spend(cost = 1): Promise<Spent> {
    return (this.#spent ??= this.#charge(cost));
  }

  async #charge(cost: number): Promise<Spent> {
    const spent =
      cost === 0
        ? await this.#options.quota.consumeFree(this.#principal)
        : { cost, decision: await this.#options.quota.consume(this.#principal, cost) };
    const { outcome } = spent.decision;
    // A request that was refused otherwise has spent nothing.
    if (outcome === 'too_costly') void this.#reply.header(costHeaderName, '1');
    if (outcome === 'admitted') void this.#reply.header(costHeaderName, String(spent.cost));
    this.#settle(spent.decision, spent.cost);
    return spent;
  }

  #settle(decision: QuotaDecision, cost: number): void {
    settle(this.#options, this.#principal.plan, decision, this.#reply, cost);
  }
}

function hasNothingLeft({ outcome, ...figures }: QuotaDecision): boolean {
  if (outcome === 'banned') return true;
  return 'minute' in figures && (figures.minute.remaining === 0 || figures.day.remaining === 0);
}

function unauthorized(sent: SentKey, upgrade: string | undefined): HttpError {
  if (sent === undefined) {
    const needed = 'A key is needed: send Authorization: Bearer KEY, or X-API-Key: KEY.';
    // A browser sends no key with it.
    const isWebSocket = upgrade?.toLowerCase() === 'websocket';
    const message = isWebSocket ? `${needed} Subscriptions are sent by POST, not over a WebSocket.` : needed;
    return new HttpError('UNAUTHORIZED', message, { headers: { 'www-authenticate': bearerChallenge } });
  }
  const challenge = `${bearerChallenge}, error="invalid_token"`;
  const message = 'fault' in sent ? sent.fault : 'This key is not valid: it is mistyped, unknown, revoked or expired.';
  return new HttpError('UNAUTHORIZED', message, { headers: { 'www-authenticate': challenge } });
}

/** The window that the request has to wait for. */
function spentQuotaOf({ minute, day, now, retryAfterSeconds }: RefusedDecision): SpentQuota {
  const isOfDay = secondsUntil(day.resetsAt, now) === retryAfterSeconds;
  return isOfDay ? { window: 'day', limit: day.limit } : { window: 'minute', limit: minute.limit };
}

function refusalOf(decision: Exclude<QuotaDecision, { outcome: 'admitted' }>): DomainError | HttpError {
  switch (decision.outcome) {
    case 'refused': {
      const { retryAfterSeconds, minute, day } = decision;
      const message = `The quota of ${minute.limit} requests per minute and ${day.limit} per day does not allow this request yet; it can succeed in ${retryAfterSeconds} s.`;
      return new HttpError('RATE_LIMITED', message, { retryAfterSeconds });
    }
    case 'banned': {
      const { retryAfterSeconds } = decision;
      const message = `This key is banned for another ${retryAfterSeconds} s.`;
      return new HttpError('KEY_BANNED', message, { retryAfterSeconds });
    }
    case 'too_costly': {
      // The cost of everything but a GraphQL document is 1.
      const message = `costs more than the ${decision.largestCost} that your quota allows: select fewer root fields.`;
      return validationFailed([{ field: 'query', message }]);
    }
  }
}
