-- limit_take: may this job begin now? Counts it, if so
-- KEYS   limit line_waiting line_due
-- ARGV   max per window waiter
-- reply  1, when it was counted, how many wait, seconds until one more may begin ('0' = now); or 0
--        and the seconds until one may ('0' = now, but others have waited longer), and if `waiter` is
--        in the line, how many came after it
--
-- max     1 to 10^9; per: seconds, 0.001 to 10^9; window: fixed or sliding, as in limit_fixed and
--         limit_sliding
-- waiter  the job: its queue, a space, its id. Those that are in the line before it go first
--
-- In a sliding window its place is kept until limit_begun says that it has begun; without that for
-- 5 seconds, and for `per` after them.

-- @include limit
-- @include turn

local most, span = whole(max, 1, 1e9), number(per, 0.001, 1e9)
if not most or not span or window ~= 'fixed' and window ~= 'sliding' or #waiter > 300 then
    return redis.error_reply('ERR limit_take: max from 1, per seconds, window fixed or sliding')
end
local room, opens = limit_room(most, span, line_empty and 1 or 101)
if not is_turn(room) then
    return { 0, string.format('%.6f', room > 0 and 0 or opens), behind() }
end
local at = spell(now)
if window == 'fixed' then
    local left = redis.call('PTTL', limit)
    local count = left > 0 and redis.call('GET', limit) or 0
    left = left > 0 and left or math.ceil(span * 1000)
    at = spell(now + left / 1000)
    redis.call('PEXPIRE', limit, left) -- first: a full Redis accepts a script that begins with it
    redis.call('SET', limit, count + 1, 'PX', left)
else
    -- LTRIM comes first, too, since a full Redis accepts a script that begins with it.
    at = spell(now + LIMIT_OPEN)
    local last = string.format('%d', most - 1) -- a number in its place would cost far more
    redis.call('LTRIM', limit, '0', last)
    redis.call('LPUSH', limit, at)
    redis.call('LTRIM', limit, '0', last)
    redis.call('PEXPIRE', limit, string.format('%.0f', math.ceil((span + LIMIT_OPEN) * 1000)))
end
leave_turn()
room, opens = limit_room(most, span, 1)
return { 1, at, line_empty and 0 or redis.call('ZCOUNT', line_waiting, '(0', '+inf'),
    string.format('%.6f', room > 0 and 0 or opens) }
