-- lock_touch: keep a lock for ttl seconds from now
-- KEYS   lock
-- ARGV   token ttl
-- reply  1; 0 when it is not, or no longer, this token's

-- @include number

local life = number(ttl, 0.001, 1e9)
if not life then
    return redis.error_reply('ERR lock_touch: ttl is seconds, 0.001 to 10^9')
end
if redis.call('HGET', lock, 'token') ~= token then
    return 0
end
redis.call('PEXPIRE', lock, math.ceil(life * 1000))
redis.call('HSET', lock, 'ttl', ttl)
return 1
