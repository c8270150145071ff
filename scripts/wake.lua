-- wake: leave a wake where a worker would find work
-- KEYS   ready wake paused
-- ARGV   none
-- reply  1 when there is work, else 0
--
-- For who ate a wake and does not reserve: it is put back.

-- @include wake

leave_wake()
return redis.call('EXISTS', wake)
