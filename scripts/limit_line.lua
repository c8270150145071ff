-- limit_line: which jobs that wait for a limit come next?
-- KEYS   limit line_waiting line_due
-- ARGV   max per window due since waiter
-- reply  how many wait; seconds until one may begin ('0' = now); then for each that may a job (queue,
--        a space, id), when it is due, since when it waits
--
-- max, per and window are as in limit_take; due, since, waiter and the jobs as in permit_line
--
-- Nobody frees a limit; so each laterd that knows of jobs in its line asks when it opens.

-- @include limit
-- @include line

local most, span = whole(max, 1, 1e9), number(per, 0.001, 1e9)
if not most or not span or window ~= 'fixed' and window ~= 'sliding' then
    return redis.error_reply('ERR limit_line: max from 1, per seconds, window fixed or sliding')
end
local room, opens = limit_room(most, span, 100)
return line(room, string.format('%.6f', room > 0 and 0 or opens))
