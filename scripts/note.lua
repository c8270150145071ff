-- note: what one laterd has counted, in a period of a queue's history or in its totals
-- KEYS   history
-- ARGV   field packed ms known (gone was)...
-- reply  1; 0 when nothing was written
--
-- packed  all that it has counted there, not only what is new; so it may be written twice
-- ms      milliseconds until the period is forgotten; 0: never
-- known   1: the field must exist. If it does not, another laterd took this one for dead and has
--         added its field to another
-- gone    a field that `packed` includes, to be deleted; `was` is what it must contain. If any of
--         them differs, nothing is written

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
redis.call('HDEL', history, field) -- first: a full Redis accepts a script that begins with it
for i = 5, #ARGV, 2 do
    redis.call('HDEL', history, ARGV[i])
end
redis.call('HSET', history, field, packed)
if keep > 0 then
    redis.call('PEXPIRE', history, ms)
end
return 1
