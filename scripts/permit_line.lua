-- permit_line: which jobs that wait for permits come next?
-- KEYS   running waiting
-- ARGV   max wait waiter
-- reply  how many wait; then for each permit that is free a job (queue, a space, id), when it is due
--
-- max  how many permits there are, 1 to 1,000,000; wait, waiter and the reply are as in lock_line

-- @include line

local most = whole(max, 1, 1000000)
return line(most and most - redis.call('ZCOUNT', running, string.format('(%.6f', now), '+inf'))
