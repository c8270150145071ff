-- note: what one laterd has counted, in a period of a queue's history or in its totals
-- KEYS   history
-- ARGV   field packed ms known (gone was)...
-- reply  1; 0 when nothing was written
--
-- packed  all that it has counted there, not what is new: writing it twice changes nothing
-- ms      until the period is forgotten; 0: never
-- known   1: the field must be there. Where it is not, somebody has found its laterd gone, and has
--         counted it into another
-- gone    fields that are counted into `packed`, taken out where all of them are as they `was`

-- @include number

local keep = whole(ms, 0, 1e11)
if not keep or #packed > 1048576 then
    return redis.error_reply('ERR note: ms from 0, and at most 1 MiB')
end
if known == '1' and redis.call('HEXISTS', history, field) == 0 then
    return 0
end
for i = 5, #ARGV, 2 do
    if redis.call('HGET', history, ARGV[i]) ~= ARGV[i + 1] then
        return 0
    end
end
redis.call('HDEL', history, field) -- a full Redis takes it, and what follows
for i = 5, #ARGV, 2 do
    redis.call('HDEL', history, ARGV[i])
end
redis.call('HSET', history, field, packed)
if keep > 0 then
    redis.call('PEXPIRE', history, ms)
end
return 1
