-- wait_next: which job waits longest for a lock or a place?
-- KEYS   waiting
-- ARGV   none
-- reply  its queue, a space and its id; when it is due; nothing where none waits
--
-- It is taken out of the list. Those that are due by now look for themselves: up to 500 of them are
-- forgotten.

-- @include now

local over = redis.call('ZCOUNT', waiting, '-inf', now)
if over > 0 then
    redis.call('ZREMRANGEBYRANK', waiting, 0, math.min(over, 500) - 1)
end
local first = redis.call('ZRANGEBYSCORE', waiting, string.format('(%.6f', now), '+inf',
    'WITHSCORES', 'LIMIT', 0, 1)
if first[1] then
    redis.call('ZREM', waiting, first[1])
end
return first
