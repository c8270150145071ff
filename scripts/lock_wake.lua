-- lock_wake: wake who waits longest, if the owner of a lock is gone without giving it back
-- KEYS   lock lock_wake
-- ARGV   pass
-- reply  seconds until it is worth another look: what its owner has left
--
-- pass   1 to 64 bytes, unpredictable
--
-- Those who wait call this now and then, each when what was left the last time is over.

-- @include pass

if #pass < 1 or #pass > 64 then
    return redis.error_reply('ERR lock_wake: pass is 1 to 64 bytes')
end
local left = redis.call('PTTL', lock)
if left == -2 then
    pass_on(pass)
    left = redis.call('PTTL', lock)
end
return string.format('%.3f', math.max(left, 0) / 1000)
