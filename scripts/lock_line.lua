-- lock_line: which job that waits for a lock comes next?
-- KEYS   lock lock_wake waiting
-- ARGV   wait waiter
-- reply  how many wait; if the lock is free, the first of them (queue, a space, id), when it is due
--
-- wait    the delay with which `waiter` was put into `delayed` just before, in seconds
-- waiter  a job that waits from now on, written as in the reply; '' = none
--
-- The job enters the line and the lock is looked at in one step. So a job that enters while the
-- lock is free is answered at once, and later whoever frees the lock finds it. The job in the reply
-- is taken out of the line; the caller makes it due at once (hasten).

-- @include line

local held = redis.call('HMGET', lock, 'token', 'pass')
local kept = held[2] and redis.call('EXISTS', lock_wake) == 0 -- for a pass: inc/pass.lua
return line((held[1] or kept) and 0 or 1)
