-- permit_line: which jobs that wait for permits come next?
-- KEYS   running line_waiting line_due
-- ARGV   max due since waiter
-- reply  how many wait; ''; then for each permit that is free a job (queue, a space, id), when it is
--        due, since when it waits
--
-- max  how many permits there are, 1 to 1,000,000; due, since, waiter and the reply are as in lock_line
--
-- Whoever gives a permit back asks this. For a second each free permit is kept for the job that was called.

-- @include line

local most = whole(max, 1, 1000000)
return line(most and most - redis.call('ZCOUNT', running, string.format('(%.6f', now), '+inf'), '')
