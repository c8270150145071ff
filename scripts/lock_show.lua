-- lock_show: who has a lock?
-- KEYS   lock fence
-- ARGV   none
-- reply  1 if it is held, else 0; seconds left, owner, since when, ttl (each '' where it is free);
--        the last fencing number

local held = redis.call('HMGET', lock, 'token', 'owner', 'since', 'ttl')
local number = redis.call('GET', fence) or '0'
if not held[1] then
    return { 0, '', '', '', '', number }
end
local left = string.format('%.3f', math.max(redis.call('PTTL', lock), 0) / 1000)
return { 1, left, held[2] or '', held[3] or '', held[4] or '', number }
