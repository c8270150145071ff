-- lock_line: which job that waits for a lock comes next?
-- KEYS   lock lock_wake waiting
-- ARGV   wait waiter
-- reply  how many wait; if the lock is free, the first of them (queue, a space, id), when it is due
--
-- wait    the seconds for which that job has gone into `delayed`, just before
-- waiter  a job that waits from now on, as in the reply; '' = none
--
-- Entering and looking are one step: who enters while the lock is free is told so, and who frees it
-- later finds him. The first is out of the line; who has asked has it due at once (hasten).

-- @include line

local held = redis.call('HMGET', lock, 'token', 'pass')
local kept = held[2] and redis.call('EXISTS', lock_wake) == 0 -- somebody was woken: inc/pass.lua
return line((held[1] or kept) and 0 or 1)
