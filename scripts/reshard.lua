-- reshard: change the plan of shards of a queue, if it is still the one that the caller has seen
-- KEYS   shards
-- ARGV   before counts
-- reply  the plan in force now, `EPOCH COUNT FORMER…`; if its counts are not those of the call,
--        somebody else has changed it
--
-- before  the plan as it was read, '' = none
-- counts  `COUNT FORMER…`: into how many shards ids are pushed, and under which counts jobs may
--         still lie, the latest first; 1 to 32 each, at most 8 in all. A queue that never had a plan
--         had the count 1
--
-- An epoch is Redis's time in milliseconds, or one more than the last epoch. So it grows even if a
-- failover has lost the last change.

-- @include now
-- @include number

local many = 0
for count in string.gmatch(counts, '%S+') do
    many = whole(count, 1, LATER_SHARDS_MAX) and many + 1 or 99
end
if many < 1 or many > 8 then
    return redis.error_reply('ERR reshard: counts are 1 to LATER_COUNTS_MAX numbers '
        .. 'from 1 to LATER_SHARDS_MAX')
end
local here = redis.call('GET', shards) or ''
if here ~= before then
    return here
end
local epoch = math.max(math.floor(now * 1000), (tonumber(string.match(here, '^%d+') or 0)) + 1)
local plan = string.format('%.0f ', epoch) .. counts
redis.call('DEL', shards)
redis.call('SET', shards, plan)
return plan
