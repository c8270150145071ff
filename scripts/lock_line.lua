-- lock_line: which job that waits for a lock comes next?
-- KEYS   lock lock_wake line_waiting line_due
-- ARGV   due since waiter
-- reply  how many wait; ''; if the lock is free, the first of them (queue, a space, id), when it is
--        due, since when it waits
--
-- due     when `waiter`, which has just been put into `delayed`, is due there, in the very digits;
--         '' = it has been called, but does not come
-- since   when `waiter` was ready; 0 = now. Who was ready first comes first
-- waiter  a job that waits from now on, written as in the reply; '' = none
--
-- The job enters the line and the lock is looked at in one step. So a job that enters while the
-- lock is free is answered at once, and later whoever frees the lock finds it. For a second the
-- lock is kept for the job in the reply; the caller makes it ready (hasten), and if that answers 0,
-- calls again and names the job with an empty `due`. A job stays in the line until it has the lock, so
-- it keeps its place if it is refused, was kicked or comes by its own time. If a called job does not
-- come in that second, the next call calls one more, if nobody has had the lock since, and this one
-- again, since its caller may have died; after a minute it is called for the last time, and leaves
-- the line. Until then it counts as one that waits, if there is no other. A client that
-- waits for the lock in BLPOP goes before the jobs in its line, and so does one that takes it while
-- it is free.

-- @include line

local held = redis.call('HMGET', lock, 'token', 'pass')
local kept = held[2] and redis.call('EXISTS', lock_wake) == 0 -- for a pass: inc/pass.lua
return line((held[1] or kept) and 0 or 1, '')
