-- Leaves a lock free for whom Redis serves next: who blocked first in BLPOP on lock_wake gets the
-- pass with the element, at once after this script. Until then, and for at most two seconds, the
-- lock is kept for the bearer; an element that is still there was meant for nobody.
local function pass_on(pass)
    -- Neither key is gone in between: while their slot moves to another node of a Cluster, they
    -- could not be made again here. A full Redis accepts a script that begins with LTRIM.
    local trimmed = redis.pcall('LTRIM', lock_wake, 0, 0)
    if trimmed.err then
        redis.call('DEL', lock_wake) -- it was no list
    end
    redis.call('HSET', lock, 'pass', pass)
    redis.call('HDEL', lock, 'token', 'owner', 'since', 'ttl', 'fence')
    redis.call('PEXPIRE', lock, 2000)
    redis.call('LPUSH', lock_wake, pass)
    redis.call('LTRIM', lock_wake, 0, 0)
    redis.call('PEXPIRE', lock_wake, 2000)
end
