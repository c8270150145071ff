-- release: an attempt failed; the job runs again later
-- KEYS   reserved held ready delayed jobs records wake paused stats
-- ARGV   (id wait how error)...
-- reply  the positions (from 1) of ids that are LOST
--
-- wait   seconds until it is due; 0: ready at once
-- how    ran: an attempt; crashed: an attempt that killed its worker; ran+, crashed+: the same, and
--        tag `r` notes when the job first failed, since its retries end by time
-- error  `"kind":…,"text":…,"host":…}`, or '' to keep the last error
--
-- A suspect that has run to its end is no longer a suspect.

-- @told
-- @include now
-- @include guard
-- @include give_up
-- @include fail
-- @include count
-- @include place
-- @include share
-- @include guard_fair

local known_how = { ran = true, crashed = true, ['ran+'] = true, ['crashed+'] = true }
local list, waits, at_once = {}, {}, false
for i = 1, #ARGV / 4 do
    local how = ARGV[4 * i - 1]
    list[i] = ARGV[4 * i - 3]
    waits[i] = number(ARGV[4 * i - 2], 0, 1e11)
    if not waits[i] or not known_how[how] then
        return redis.error_reply('ERR release: a wait is seconds, how is ran or crashed')
    end
    at_once = at_once or waits[i] == 0
end
guard(#list, { ready, delayed }, { jobs, stats })
if at_once then
    guard_fair()
end

local ids, at, lost = give_up(list)
if #ids == 0 then
    return lost
end
local soon, later, texts, places = {}, {}, records_of(ids), {}
for n = 1, #ids do
    local i, id = at[n], ids[n]
    if waits[i] > 0 then
        later[#later + 1] = now + waits[i]
        later[#later + 1] = id
    else
        places[#places + 1] = n
        soon[#soon + 1] = now + n / 1000000 - rank(texts[n])
        soon[#soon + 1] = id
    end
    local how = ARGV[4 * i - 1]
    texts[n] = failed(texts[n], ARGV[4 * i])
    if string.byte(how, -1) == 43 then
        how = string.sub(how, 1, -2)
        texts[n] = value_of(texts[n], 'r') and texts[n]
            or with_value(texts[n], 'r', string.format('%.6f', now))
    end
    if how == 'crashed' then
        texts[n] = crashed(texts[n])
    elseif value_of(texts[n], 'c') == '0' then
        texts[n] = with_value(texts[n], 'c')
    end
end
local shared = #soon > 0 and fair(texts)
if shared then
    shared.place(soon, texts, places)
end
keep_records(ids, texts)
place(soon, later)
count(stats, 'released', #ids)
return lost
