-- reschedule: give a ready or delayed job another due time, or another priority
-- KEYS   ready delayed dead jobs records wake paused
-- ARGV   id when priority
-- reply  the state it had. `reserved`, `dead`, `waiting`, '' (no such job): nothing was done
--
-- when      '': as it is; '+S': in S seconds; 'S': at that UNIX time, 0 or from 10^9 on. A time that has
--           passed makes it ready
-- priority  '': as it is; else -100 to 100
--
-- A ready job that stays ready keeps its turn among those of its new priority; one with a group takes
-- the next turn of its group. A delayed job that gets another time no longer waits in a line (tag l).

-- @include now
-- @include guard
-- @include record
-- @include place
-- @include where
-- @include share
-- @include guard_fair

local plus, seconds = string.match(when, '^(%+?)(.*)$')
seconds = number(seconds, 0, 1e11)
local due_at = when ~= '' and seconds and (plus == '+' and now + seconds or seconds) or nil
local early = plus == '' and seconds and seconds > 0 and seconds < 1e9
local rank_now = whole(priority, -100, 100)
if when ~= '' and not seconds or early or priority ~= '' and not rank_now then
    return redis.error_reply('ERR reschedule: a time is seconds from 1970, a delay is +seconds; '
        .. 'a priority is a whole number from -100 to 100')
end
guard(1, { ready, delayed, dead }, { jobs })
guard_fair()
local state = redis.call('HEXISTS', jobs, id) == 1 and where(id) or ''
if state ~= 'ready' and state ~= 'delayed' then
    return state
end

local set, old = state == 'ready' and ready or delayed, records_of({ id })[1]
local shared = state == 'ready' and fair({ old }, true)
local since = tonumber(shared and shared.of(old)
    or redis.call('ZSCORE', set, id) + (state == 'ready' and rank(old) or 0))
local texts, soon, later = { old }, {}, {}
if rank_now then
    texts[1] = with_value(old, 'p', rank_now ~= 0 and string.format('%d', rank_now) or nil)
end
if due_at and state == 'delayed' then
    texts[1] = with_value(texts[1], 'l')
end
local sharing
if due_at and due_at > now then
    later = { due_at, id }
elseif state == 'delayed' and not due_at then
    later = { since, id }
else
    soon = { (state == 'ready' and since or now) - rank(texts[1]), id }
    sharing = fair(texts)
end
if sharing then
    sharing.place(soon, texts, nil, true)
end
redis.call('ZREM', set, id) -- the first write: a full Redis accepts it
if shared then
    shared.leave({ id }, { old })
end
if sharing then
    sharing.write()
end
keep_records({ id }, texts)
place(soon, later)
return state
