-- hasten: make a job due now that waits in `delayed` for a lock or a permit
-- KEYS   delayed due
-- ARGV   latest id
-- reply  1; 0 when it does not wait there, or waits for something else
--
-- latest  when the job is due, as the line has it. A job that is due later, or more than two
--         seconds earlier, is not the one that entered the line: it was replaced, or has failed
--         since.

-- @include now
-- @include number

local last = number(latest, 0, 1e11)
if not last then
    return redis.error_reply('ERR hasten: latest is a time')
end
local at = tonumber(redis.call('ZSCORE', delayed, id) or 0)
if at <= now or at > last + 0.001 or at < last - 2 then
    return 0
end
redis.call('ZREM', delayed, id)
redis.call('ZADD', delayed, string.format('%.6f', now), id)
redis.call('PUBLISH', due, string.format('%.6f', now))
return 1
