-- Frees a lock for the client that has waited longest in BLPOP on lock_wake. Right after this
-- script Redis gives it the element, which is the pass. From then on the lock is kept for whoever
-- shows the pass, until two seconds from now at most. If the element is still in lock_wake, nobody
-- waited, and anybody may take the lock.
local function pass_on(pass)
    -- Neither key may be gone in between: while their slot moves to another node of a Cluster, they
    -- could not be made again here. LTRIM comes first, since a full Redis accepts that.
    local trimmed = redis.pcall('LTRIM', lock_wake, 0, 0)
    if trimmed.err then
        redis.call('DEL', lock_wake) -- it is not a list
    end
    redis.call('HSET', lock, 'pass', pass)
    redis.call('HDEL', lock, 'token', 'owner', 'since', 'ttl', 'fence')
    redis.call('PEXPIRE', lock, 2000)
    redis.call('LPUSH', lock_wake, pass)
    redis.call('LTRIM', lock_wake, 0, 0)
    redis.call('PEXPIRE', lock_wake, 2000)
end
