-- Leaves a lock free for whom Redis serves next: who blocked first in BLPOP on lock_wake gets the
-- pass with the element, at once after this script. Until then, and for at most two seconds, the
-- lock is kept for the bearer; an element that is still there was meant for nobody.
local function pass_on(pass)
    redis.call('DEL', lock, lock_wake)
    redis.call('HSET', lock, 'pass', pass)
    redis.call('PEXPIRE', lock, 2000)
    redis.call('LPUSH', lock_wake, pass)
    redis.call('PEXPIRE', lock_wake, 2000)
end
