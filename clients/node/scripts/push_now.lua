-- push_now: put one new job into ready, if that is all there is to do
-- KEYS   ready jobs records wake paused stats shards call
-- ARGV   epoch id document
-- reply  PUSHED; or ASK: nothing was done, and push has to look closer. No list of answers
--
-- push, for what is pushed most often, one job of priority 0 and for now, at half of its
-- cost. Under `call` it is remembered for a minute that it was pushed, for push as well.
--
-- epoch  of the plan of shards that the caller knows, 0: none (inc/fence.lua)
--
-- As with push its first write is one that a full Redis refuses.

-- From its head, by scripts/expand.awk:
if #KEYS ~= 8 or #ARGV ~= 3 then
    return redis.error_reply('ERR usage: push_now: KEYS ready jobs records wake paused stats shards call ARGV epoch id document')
end
local ready, jobs, records, wake, paused, stats, shards, call = unpack(KEYS)
local epoch, id, document = unpack(ARGV, 1, 3)

-- Adds to a number in a hash and returns the sum. What is no number there, put by a foreign hand,
-- must not stop a script half-way: it begins anew.
local function count(hash, field, by)
    local sum = redis.pcall('HINCRBY', hash, field, by)
    if type(sum) == 'table' then
        if string.find(sum.err, 'OOM', 1, true) then
            error(sum) -- the first write of this call, on a full Redis: nothing was changed
        end
        redis.call('HDEL', hash, field)
        sum = redis.call('HINCRBY', hash, field, by)
    end
    return sum
end

if #id > 200 or not string.find(id, '^[!-~]+$') then
    return redis.error_reply('ERR push_now: an id is 1 to 200 printable characters without space')
end
if document == '' then
    return redis.error_reply('ERR push_now: the document is empty')
end
-- Most queues have none of these: one look for all.
local quiet = redis.call('EXISTS', call, shards, records, paused) == 0
local told = not quiet and redis.call('GET', call)
if told then
    return told
end
if (not quiet and redis.call('GET', shards) or '0') ~= epoch or redis.call('HEXISTS', jobs, id) == 1
    or not quiet and redis.call('HEXISTS', records, id) == 1 then
    return 'ASK'
end
local limit = redis.call('HGET', stats, 'max_jobs')
limit = limit and tonumber(limit) or 0
if limit > 0 and redis.call('HLEN', jobs) >= limit then
    return 'ASK'
end

local clock = redis.call('TIME')
-- All as text: to write a number costs Redis as much as a whole command.
redis.call('ZADD', ready, clock[1] .. '.' .. string.sub('00000' .. clock[2], -6), id)
redis.call('HSET', jobs, id, document)
if redis.call('EXISTS', wake) == 0 and (quiet or redis.call('EXISTS', paused) == 0) then
    redis.call('LPUSH', wake, '1')
end
redis.call('SET', call, 'PUSHED', 'EX', '60')
count(stats, 'pushed', '1')
return 'PUSHED'
