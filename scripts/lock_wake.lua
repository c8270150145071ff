-- lock_wake: wake the client that has waited longest, if the lock has expired
-- KEYS   lock lock_wake
-- ARGV   pass
-- reply  seconds until it is worth another look: what its owner has left
--
-- pass   1 to 64 bytes, unpredictable
--
-- Each waiting client calls this now and then: when the time that was left at its last call is
-- over.

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
