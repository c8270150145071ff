-- return: give jobs back without an attempt
-- KEYS   reserved held ready delayed jobs records wake paused stats
-- ARGV   (id wait how)...
-- reply  the positions (from 1) of ids that are LOST
--
-- wait   seconds until it is due; 0: ready at once, in its old place; from 10^9 on: when it is due
-- how    held: it had not begun; if that goes back to its place, idle clients get one job at a time
--        for ten seconds (reserve), as `singly` in stats says; line:KIND NAME: nor had it, and it
--        goes into that line until it is due, which its record keeps; type:T: nor had it, and its
--        type is paused (override): it is kept aside until that ends, whatever its wait; if that has
--        ended it goes back to its place; suspect: it ran beside others when their worker crashed,
--        and will run alone; interrupted: laterd was stopped, and the tenth time in a row is an
--        attempt; unknown: no plugin there has its type, which becomes its error with the time of
--        the first; `"kind":…,"text":…,"host":…}`: why its handler gave it back, which becomes its
--        error

-- @include now
-- @include guard
-- @include give_up
-- @include fail
-- @include count
-- @include place
-- @include share
-- @include guard_fair

local function interrupted(record)
    local times = count_of(record, 'i') + 1
    if times < 10 then
        return with_value(record, 'i', times)
    end
    return with_value(with_value(record, 'i'), 'a', count_of(record, 'a') + 1)
end

-- The error's `at` says since when, so the error is written only once.
local function unknown(record)
    if string.find(value_of(record, 'e') or '', '"kind":"unknown"', 1, true) then
        return record
    end
    return with_error(record, count_of(record, 'a'),
        '"kind":"unknown","text":"no plugin has its type","host":""}')
end

-- Jobs of types that are paused: by `type:T`, their scores and ids. Without laterds nobody would
-- bring them back, so each is due some time after the end of the pause; or looks again in a day.
local aside, base = {}, string.sub(jobs, 1, -5)
local function paused_due(how)
    local pause = redis.call('HGET', base .. 'overrides', how)
    local till = pause and tonumber(string.match(pause, '^%S+ (%S+)') or 0)
    if not till or till > 0 and till <= now then
        return false
    end
    return string.format('%.6f', till > 0 and till + 60 or now + 86400)
end

-- Has that pause kept this job before? Then it only looked again, and keeps the place that it had
-- first. What the set has of an earlier job with its id is not its place.
local function kept_before(record, how)
    return string.match(value_of(record, 'l') or '', '^%S+ t (%S+)$') == string.sub(how, 6)
end

local list, waits, at_once = {}, {}, false
for i = 1, #ARGV / 3 do
    local how = ARGV[3 * i]
    list[i], waits[i] = ARGV[3 * i - 2], number(ARGV[3 * i - 1], 0, 1e11)
    if not waits[i] then
        return redis.error_reply('ERR return: a wait is seconds')
    end
    if how ~= 'held' and how ~= 'suspect' and how ~= 'interrupted' and how ~= 'unknown'
        and string.sub(how, 1, 4) ~= 'line' and string.sub(how, 1, 5) ~= 'type:'
        and string.sub(how, 1, 7) ~= '"kind":' then
        return redis.error_reply(
            'ERR return: how is held, line, type, suspect, interrupted, unknown or why')
    end
    if string.sub(how, 1, 5) == 'type:' then
        aside[how] = aside[how] or { due = paused_due(how), again = {} }
        waits[i] = tonumber(aside[how].due or 0)
    end
    at_once = at_once or waits[i] == 0
end
guard(#list, { ready, delayed }, { jobs, stats })
if at_once then
    guard_fair()
end

local scores = redis.call('ZMSCORE', held, unpack(list))
local ids, at, lost = give_up(list)
if #ids == 0 then
    return lost
end
local soon, later, texts, changed, places = {}, {}, records_of(ids), false, {}
local singly = false
for n = 1, #ids do
    local i, id = at[n], ids[n]
    local how = ARGV[3 * i]
    if waits[i] > 0 then
        later[#later + 1] = waits[i] < 1e9 and now + waits[i] or waits[i]
        later[#later + 1] = id
    else
        places[#places + 1] = n
        soon[#soon + 1] = scores[i]
        soon[#soon + 1] = id
        singly = singly or how == 'held'
    end
    if how == 'suspect' and not value_of(texts[n], 'c') then
        texts[n] = with_value(texts[n], 'c', 0)
    elseif how == 'interrupted' then
        texts[n] = interrupted(texts[n])
    elseif how == 'unknown' then
        texts[n] = unknown(texts[n])
    elseif aside[how] then
        local kept = aside[how]
        if kept.due then
            local into = kept_before(texts[n], how) and kept.again or kept
            texts[n] = with_value(texts[n], 'l', kept.due .. ' t ' .. string.sub(how, 6))
            into[#into + 1] = scores[i] + rank(texts[n])
            into[#into + 1] = id
        end
    elseif string.sub(how, 1, 4) == 'line' then
        local name = waits[i] >= 1e9 and string.match(how, '^line:([lpfs] [!-~]+)$')
        if name then
            texts[n] = with_value(texts[n], 'l', ARGV[3 * i - 1] .. ' ' .. name)
        else
            how = 'held' -- nobody could call it
        end
    elseif how ~= 'held' and how ~= 'suspect' then
        texts[n] = with_error(texts[n], count_of(texts[n], 'a'), how)
    end
    changed = changed or how ~= 'held'
end
local shared = fair(texts, true)
if shared then
    shared.back(soon, texts, places)
end
if changed then
    keep_records(ids, texts)
end
for how, kept in pairs(aside) do
    local set = base .. 'aside:' .. string.sub(how, 6)
    if #kept > 0 then
        redis.call('ZADD', set, unpack(kept))
    end
    if #kept.again > 0 then
        redis.call('ZADD', set, 'NX', unpack(kept.again))
    end
end
place(soon, later)
count(stats, 'returned', #ids)
if singly then
    redis.call('HSET', stats, 'singly', string.format('%.0f', now + 10))
end
return lost
