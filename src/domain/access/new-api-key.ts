import { InputCheck, type Rule } from '../input.ts';
import { parseInstant } from '../instant.ts';
import { keyNameRule } from '../rules.ts';
import type { RowData } from '../store.ts';
import type { ApiKey } from './api-key.entity.ts';
import { generateKey, hashKey, shownPrefix } from './api-key.ts';
import { checkPlan, type PlanInput } from './plan.ts';
import { scopesRule, type Scope } from './scope.ts';

export interface NewApiKey extends PlanInput {
  readonly name: string;
  /** Left out: `read` and `write`. */
  readonly scopes?: readonly Scope[] | null | undefined;
  /** RFC 3339. */
  readonly expiresAt?: string | null | undefined;
}

/** A new key: the row, and the secret, which isn't stored. Throws VALIDATION_FAILED. */
export function newApiKey(input: NewApiKey, now: number) {
  const check = new InputCheck();
  const given = {
    name: check.required('name', input.name, keyNameRule),
    ...checkPlan(check, input),
    scopes: check.optional('scopes', input.scopes, scopesRule) ?? (['read', 'write'] as Scope[]),
    expiresAt: check.optional('expiresAt', input.expiresAt, futureRule(now)) ?? null,
  };
  check.throwIfRefused();
  const { secret, prefix, sha256 } = newSecret();
  const listed = {
    ...given,
    prefix,
    createdAt: new Date(now),
    revokedAt: null,
    bannedUntil: null,
    previousSecretExpiresAt: null,
  };
  const row: RowData<ApiKey> = {
    ...listed,
    sha256,
    previousSha256: null,
    banEpoch: 0,
    automaticBans: [],
  };
  return { secret, listed, row };
}

/** A new secret, and the properties stored for it. */
export function newSecret() {
  const secret = generateKey();
  return { secret, prefix: shownPrefix(secret), sha256: hashKey(secret) };
}

export function futureRule(now: number): Rule<string, Date> {
  return (value, refuse) => {
    const parsed = parseInstant(value);
    if (typeof parsed === 'string') refuse(parsed);
    else if (parsed.getTime() > now) return parsed;
    else refuse(`must be in the future, not ${value}.`);
    return new Date(now);
  };
}
