-- wake: leave a wake if a worker would find work
-- KEYS   ready wake paused
-- ARGV   none
-- reply  1 when there is work, else 0
--
-- A worker that took a wake and does not reserve puts it back by this.

-- @include wake

leave_wake()
return redis.call('EXISTS', wake)
