-- lock_take: take a lock, if nobody has it
-- KEYS   lock fence lock_wake line_waiting line_due
-- ARGV   token owner ttl pass waiter
-- reply  1 and the fencing number when it is taken; else 0 and the seconds that its owner has left
--
-- token  1 to 64 bytes, new and unpredictable each time. If it has the lock already, it keeps it
--        for ttl seconds from now under the same number; so if an answer is lost, repeat the call
-- owner  at most LATER_LOCK_OWNER_MAX bytes, for people
-- ttl    seconds, 0.001 to 10^9
-- pass   what BLPOP on lock_wake gave; '' = nothing
-- waiter a job that goes into the line (lock_line) if it does not get the lock: its queue, a space,
--        its id. Those that are in the line before it go first; '' = not a job
--
-- A client that was woken comes before one that has just arrived: inc/pass.lua.

-- @include turn

local life = number(ttl, 0.001, 1e9)
local last = whole(redis.call('GET', fence) or '0', 0, 9e15)
if #token < 1 or #token > 64 or #owner > LATER_LOCK_OWNER_MAX or not life or #waiter > 300 then
    return redis.error_reply('ERR lock_take: token is 1 to 64 bytes, '
        .. 'owner up to LATER_LOCK_OWNER_MAX, ttl seconds')
elseif not last then
    return redis.error_reply('ERR lock_take: ' .. fence .. ' is no counter')
end
local held = redis.call('HMGET', lock, 'token', 'fence', 'pass')
local ms = math.ceil(life * 1000)
if held[1] == token then
    redis.call('PEXPIRE', lock, ms)
    redis.call('HSET', lock, 'ttl', ttl)
    return { 1, tonumber(held[2]) or 0 }
end
local kept = held[3] and held[3] ~= pass and redis.call('EXISTS', lock_wake) == 0
if held[1] or kept or not is_turn(1) then
    return { 0, string.format('%.3f', math.max(redis.call('PTTL', lock), 0) / 1000) }
end
redis.call('DEL', lock_wake)
redis.call('SET', fence, string.format('%.0f', last + 1))
redis.call('HSET', lock, 'token', token, 'owner', owner, 'since', string.format('%.6f', now),
    'ttl', ttl, 'fence', string.format('%.0f', last + 1))
redis.call('HDEL', lock, 'pass')
redis.call('PEXPIRE', lock, ms)
leave_turn()
return { 1, last + 1 }
