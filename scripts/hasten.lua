-- hasten: have delayed jobs due now, since what they waited for is there
-- KEYS   delayed due
-- ARGV   latest (id)...
-- reply  how many
--
-- latest  a job that is due after this moment waits for something else, and is left alone

-- @include now
-- @include number

local last = number(latest, 0, 1e11)
if not last or #ARGV > 501 then
    return redis.error_reply('ERR hasten: latest is a time; at most 500 jobs a call')
end
local soon = {}
for i = 2, #ARGV do
    local at = tonumber(redis.call('ZSCORE', delayed, ARGV[i]) or now)
    if at > now and at <= last then
        soon[#soon + 1] = string.format('%.6f', now)
        soon[#soon + 1] = ARGV[i]
    end
end
if #soon > 0 then
    redis.call('ZREM', delayed, soon[2])
    redis.call('ZADD', delayed, unpack(soon))
    redis.call('PUBLISH', due, soon[1])
end
return #soon / 2
