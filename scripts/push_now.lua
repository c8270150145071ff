-- push_now: put one new job into ready, if that is all there is to do
-- KEYS   ready jobs records wake paused stats shards call
-- ARGV   epoch id document number
-- reply  PUSHED; or ASK: nothing was done, and push has to look closer. No list of answers
--
-- This is push for the most common case: one job of priority 0, due now. It uses as few commands as
-- possible, and costs less than half.
--
-- epoch   of the plan of shards that the caller knows, 0: none (inc/fence.lua)
-- number  of this call, random, 1 to 18 digits. It is kept in the set `call` for at least a minute,
--         and a repetition answers PUSHED. A pusher takes a new set after 500 calls, and after a
--         minute, since a set of so few numbers is one small piece of memory.
--
-- As with push, the first write is one that a full Redis refuses.

-- @include count

if #id > 200 or not string.find(id, '^[!-~]+$') then
    return redis.error_reply('ERR push_now: an id is 1 to 200 printable characters without space')
end
if document == '' then
    return redis.error_reply('ERR push_now: the document is empty')
end
if number == '' or #number > 18 then
    return redis.error_reply('ERR push_now: the number of a call is 1 to 18 digits')
end

-- One EXISTS asks for everything: `wake` counts 1, `call` 2, and each key that most queues do not
-- have counts 4.
local there = redis.call('EXISTS', wake, call, call, shards, shards, shards, shards,
    records, records, records, records, paused, paused, paused, paused)
local hindered = false
if there > 3 or epoch ~= '0' then
    -- Where places go by groups, push has to find one. Then there are records (inc/share.lua).
    local fair = string.sub(jobs, 1, -5) .. 'fair'
    if epoch == '0' then
        hindered = redis.call('EXISTS', shards, fair) > 0
    else
        hindered = redis.call('GET', shards) ~= epoch
            or there > 7 and redis.call('EXISTS', fair) == 1
    end
    hindered = hindered or redis.call('HEXISTS', records, id) == 1
end
local told = redis.call('HMGET', stats, 'max_jobs', 'results')
local limit = told[1] and tonumber(told[1]) or 0
if hindered or limit > 0 and redis.call('HLEN', jobs) >= limit then
    return redis.call('SISMEMBER', call, number) == 1 and 'PUSHED' or 'ASK'
end

if redis.call('SADD', call, number) == 0 then
    return 'PUSHED'
end
-- If it cannot go on, for example because of a key of another type, it undoes what it has written.
local new = redis.pcall('HSETNX', jobs, id, document)
if new ~= 1 then
    redis.call('SREM', call, number)
    return new == 0 and 'ASK' or new
end
local clock = redis.call('TIME')
-- The score is made as text: to write out a number costs Redis as much as a whole command.
local put = redis.pcall('ZADD', ready, clock[1] .. '.' .. string.sub('00000' .. clock[2], -6), id)
if type(put) == 'table' then
    redis.call('HDEL', jobs, id)
    redis.call('SREM', call, number)
    return put
end
if told[2] and told[2] > clock[1] then -- as inc/results.lua, without its functions
    redis.call('DEL', string.sub(jobs, 1, -5) .. 'result:' .. id)
end
if there % 4 < 2 then
    redis.call('PEXPIRE', call, '120000')
end
if there % 2 == 0 and (there < 4 or redis.call('EXISTS', paused) == 0) then
    redis.call('LPUSH', wake, '1')
end
count(stats, 'pushed', '1')
return 'PUSHED'
