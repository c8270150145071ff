-- hasten: make a job ready now that waits in `delayed` for a lock, a permit or a limit
-- KEYS   ready delayed dead jobs records wake paused
-- ARGV   due since id
-- reply  1; 0 when no place need be kept for it: it waits for something else, or not any more, or
--        its queue is paused
--
-- due    when it is due, exactly, as the line has it, unless its record has a newer time. A job with
--        another time is not the one that entered the line: it was replaced, or has failed since
-- since  when it entered: its place in `ready`
--
-- A job that is in none of `delayed` and `dead` has come by itself, and is on its way.

-- @include now
-- @include number
-- @include guard
-- @include wake
-- @include record
-- @include share
-- @include guard_fair

local at, since_when = number(due, 0, 1e11), number(since, 0, 1e11)
if not at or not since_when then
    return redis.error_reply('ERR hasten: due and since are times')
end
guard(1, { ready, delayed, dead }, { jobs })
guard_fair()
local going = redis.call('EXISTS', paused) == 0 and 1 or 0
local score = redis.call('ZSCORE', delayed, id)
if not score then
    local there = redis.call('HEXISTS', jobs, id) == 1 and not redis.call('ZSCORE', dead, id)
    return there and going or 0
end
local texts = records_of({ id })
if tonumber(score) ~= at then
    -- Whoever gave it back may have died before it could tell the line. A job that a pause keeps
    -- aside waits for the end of that.
    local told = string.match(value_of(texts[1], 'l') or '', '^(%S+) [lpfs] ')
    if tonumber(told or 0) ~= tonumber(score) then
        return 0
    end
end
redis.call('ZREM', delayed, id)
local soon = { math.min(since_when, now) - rank(texts[1]), id }
local shared = fair(texts, true)
if shared and shared.of(texts[1]) then
    soon[1] = 9e15 -- its turn has come
    shared.back(soon, texts, { 1 })
end
redis.call('ZADD', ready, unpack(soon))
leave_wake(true)
return going
