import { dayMillis } from './window.ts';

export interface BanRules {
  /** The most refusals that count within a minute; 0 switches bans off. */
  readonly banAfter: number;
  readonly banForSeconds: number;
}

/** The bans of a key as the database has them. Instants are milliseconds since 1970. */
export interface BanRecord {
  /** Increases whenever an operator bans or unbans; counts of an earlier epoch are discarded. */
  readonly epoch: number;
  /** Zero when there is none. */
  readonly bannedUntil: number;
  /** When the automatic bans began; those of more than 24 hours ago may be missing. */
  readonly automaticBans: readonly number[];
}

/** The state that only a counter store has: bans that aren't saved yet, and refusals. */
export interface BanState {
  epoch: number;
  bannedUntil: number;
  automaticBans: readonly number[];
  /** The times of the counted refusals in the last minute. */
  refusals: number[];
}

export const refusalSpanMillis = 60_000;

/** Refusals of parallel requests don't count: the client hadn't received the first one yet. */
export const graceMillis = 2_000;

export function newBanState(): BanState {
  return { epoch: 0, bannedUntil: 0, automaticBans: [], refusals: [] };
}

/**
 * The state without counts from before an operator banned or unbanned the key. An older record, from a process that is
 * behind, changes nothing.
 */
export function withoutOlderEpoch(state: BanState, record: BanRecord): BanState {
  return record.epoch <= state.epoch ? state : { ...newBanState(), epoch: record.epoch };
}

export function banEnd(state: BanState, record: BanRecord): number {
  return record.epoch < state.epoch ? state.bannedUntil : Math.max(state.bannedUntil, record.bannedUntil);
}

/**
 * Counts a refusal and returns whether it exceeds the limit. If the clock was set back, earlier refusals are discarded.
 */
export function countRefusal(state: BanState, rules: BanRules, now: number): boolean {
  if ((state.refusals.at(-1) ?? 0) > now) state.refusals = [];
  const { refusals } = state;
  while (refusals[0] !== undefined && now - refusals[0] >= refusalSpanMillis) refusals.shift();
  refusals.push(now);
  return refusals.length > rules.banAfter;
}

/**
 * Bans, twice as long for each automatic ban begun in the 24 hours before; returns the end. Refusals from before a ban
 * don't count after it.
 */
export function beginBan(state: BanState, record: BanRecord, rules: BanRules, now: number): number {
  const known = record.epoch < state.epoch ? [] : record.automaticBans;
  const earlier = new Set([...state.automaticBans, ...known].filter((begun) => now - begun < dayMillis));
  state.bannedUntil = now + Math.min(dayMillis, rules.banForSeconds * 1000 * 2 ** earlier.size);
  state.automaticBans = [...earlier, now];
  state.refusals = [];
  return state.bannedUntil;
}
