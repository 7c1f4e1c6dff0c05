import { graceMillis, refusalSpanMillis } from './bans.ts';
import { dayMillis, minuteMillis } from './window.ts';

/** The expiry of everything in Redis, from its last write. */
export const lifetimeMillis = dayMillis + minuteMillis;

/**
 * `decide` of `platform/quotas/counter.ts` for Redis, step by step and in the same order: a property test runs the same
 * histories through both.
 *
 * KEYS: the counter, a hash; the refusals that count, a list, latest first; the generation, whose expiry moves with the
 *   counters'.
 * ARGV: the generation that the process counts in; now (empty: Redis' own time); needs; spends; requests per minute;
 *   per day; the most refusals that count (0: no bans); seconds of the first ban; epoch of the known bans (empty: never
 *   banned); banned until; the beginnings of automatic bans; what the process knows of the minute, opened at and spent,
 *   and of the day; what else has refused the request (1: counts towards a ban, 2: doesn't, empty: nothing); a number.
 * Returns: outcome (-1 another generation, 0 admitted, 1 refused, 2 too costly, 3 banned, 4 banned just now), now,
 *   minute opened at, spent, day opened at, spent, banned until, epoch; the number.
 */
export const consumeScript = `
local counter, refusals, generation = KEYS[1], KEYS[2], KEYS[3]
if redis.call('GET', generation) ~= ARGV[1] then return { -1, tonumber(ARGV[17]) } end
local now = tonumber(ARGV[2])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
local needs, spends = tonumber(ARGV[3]), tonumber(ARGV[4])
local limits = { tonumber(ARGV[5]), tonumber(ARGV[6]) }
local banAfter, epoch = tonumber(ARGV[7]), tonumber(ARGV[9])
local lengths = { ${minuteMillis}, ${dayMillis} }
local stored = redis.call('HMGET', counter, 'mo', 'ms', 'mr', 'do', 'ds', 'dr', 'be', 'bu', 'bb')
local opened, spent, refused = {}, {}, {}

local function save(...)
  redis.call('HSET', counter, ...)
  redis.call('PEXPIRE', counter, ${lifetimeMillis})
  redis.call('PEXPIRE', generation, ${lifetimeMillis})
end
local function saveWindows()
  save('mo', opened[1], 'ms', spent[1], 'mr', refused[1], 'do', opened[2], 'ds', spent[2], 'dr', refused[2])
end

local isMoved = false
for i = 1, 2 do
  opened[i], spent[i], refused[i] = tonumber(stored[i * 3 - 2]) or 0, tonumber(stored[i * 3 - 1]) or 0, tonumber(stored[i * 3]) or 0
  if opened[i] ~= 0 and now - opened[i] >= lengths[i] then opened[i], spent[i], refused[i], isMoved = 0, 0, 0, true end
  if opened[i] > now then opened[i], isMoved = now, true end
  if refused[i] > now then refused[i], isMoved = now, true end
  -- What Redis has lost comes back from those who know it; what has been counted since then is added once.
  local knownOpened, knownSpent = math.min(now, tonumber(ARGV[10 + i * 2])), tonumber(ARGV[11 + i * 2])
  if knownOpened ~= 0 and now - knownOpened < lengths[i] then
    if opened[i] == 0 then opened[i], spent[i] = knownOpened, knownSpent
    elseif knownOpened == opened[i] then spent[i] = math.max(spent[i], knownSpent)
    elseif knownOpened < opened[i] then opened[i], spent[i], isMoved = knownOpened, spent[i] + knownSpent, true end
  end
end
if isMoved then saveWindows() end
local storedEpoch, bannedUntil, begun = tonumber(stored[7]) or 0, tonumber(stored[8]) or 0, stored[9] or ''

local function decided(outcome)
  return { outcome, now, opened[1], spent[1], opened[2], spent[2], bannedUntil, storedEpoch, tonumber(ARGV[17]) }
end

if epoch then
  if epoch > storedEpoch then
    storedEpoch, bannedUntil, begun = epoch, 0, ''
    save('be', epoch, 'bu', 0, 'bb', '')
    redis.call('DEL', refusals)
  end
  if epoch == storedEpoch then
    bannedUntil = math.max(bannedUntil, tonumber(ARGV[10]))
    begun = begun .. ' ' .. ARGV[11]
  end
  if now < bannedUntil then return decided(3) end
end

local outcome = 0
if needs > math.min(limits[1], limits[2]) then outcome, needs, spends = 2, 1, 1 end
local full = {}
for i = 1, 2 do
  if ARGV[16] == '' and math.max(0, limits[i] - spent[i]) < needs then full[#full + 1] = i end
end
if ARGV[16] ~= '' and opened[1] ~= 0 then full[1] = 1 end
if #full == 0 then
  if spends > 0 then
    for i = 1, 2 do
      if opened[i] == 0 then opened[i] = now end
      spent[i] = spent[i] + spends
    end
    saveWindows()
  end
  return decided(outcome)
end

local couldKnow, isFirst = false, false
for _, i in ipairs(full) do
  if refused[i] == 0 then refused[i], isFirst = now, true
  elseif now - refused[i] > ${graceMillis} then couldKnow = true end
end
if isFirst then saveWindows() end
if not epoch or banAfter == 0 or not couldKnow or ARGV[16] == '2' then return decided(1) end
if (tonumber(redis.call('LINDEX', refusals, 0) or 0)) > now then redis.call('DEL', refusals) end
redis.call('LPUSH', refusals, now)
redis.call('LTRIM', refusals, 0, banAfter)
redis.call('PEXPIRE', refusals, ${refusalSpanMillis})
local oldest = redis.call('LINDEX', refusals, banAfter)
if not oldest or now - oldest >= ${refusalSpanMillis} then return decided(1) end

local earlier, count = {}, 0
local list = now
for text in string.gmatch(begun, '%d+') do
  local at = tonumber(text)
  if not earlier[at] and now - at < ${dayMillis} then
    earlier[at], count, list = true, count + 1, list .. ' ' .. at
  end
end
bannedUntil = now + math.min(${dayMillis}, tonumber(ARGV[8]) * 1000 * 2 ^ count)
save('be', storedEpoch, 'bu', bannedUntil, 'bb', list)
redis.call('DEL', refusals)
return decided(4)
`;
