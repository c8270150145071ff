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
-- The set also has the member -1, so that the command that adds a number tells whether it made the set.
--
-- As with push, the first write is one that a full Redis refuses.

local redis = redis

if #id > LATER_ID_MAX or not string.find(id, '^[!-~]+$') then
    return redis.error_reply('ERR push_now: an id is 1 to LATER_ID_MAX printable '
        .. 'characters without space')
end
if document == '' then
    return redis.error_reply('ERR push_now: the document is empty')
end
if number == '' or #number > 18 then
    return redis.error_reply('ERR push_now: the number of a call is 1 to 18 digits')
end

-- One EXISTS asks for everything: `wake` counts 1, and each key that most queues do not have 2.
local there = redis.call('EXISTS', wake, shards, shards, records, records, paused, paused)
local hindered = false
if there > 1 or epoch ~= '0' then
    -- Where places go by groups, push has to find one. Then there are records (inc/share.lua).
    local fair = string.sub(jobs, 1, -5) .. 'fair'
    if epoch == '0' then
        hindered = redis.call('EXISTS', shards, fair) > 0
    else
        hindered = redis.call('GET', shards) ~= epoch
            or there > 3 and redis.call('EXISTS', fair) == 1
    end
    hindered = hindered or redis.call('HEXISTS', records, id) == 1
end
local told = redis.call('HMGET', stats, 'max_jobs', 'results')
local limit = told[1] and tonumber(told[1]) or 0
if hindered or limit > 0 and redis.call('HLEN', jobs) >= limit then
    return redis.call('SISMEMBER', call, number) == 1 and 'PUSHED' or 'ASK'
end

local added = redis.call('SADD', call, number, '-1') -- 2: the set is new
if added == 0 then
    return 'PUSHED'
end
local mark = added == 2 and '-1' or number
-- If it cannot go on, for example because of a key of another type, it undoes what it has written.
local new = redis.pcall('HSETNX', jobs, id, document)
if new ~= 1 then
    redis.call('SREM', call, number, mark)
    return new == 0 and 'ASK' or new
end
local clock = redis.call('TIME')
local seconds, micros = clock[1], clock[2]
if #micros < 6 then
    micros = string.sub('00000' .. micros, -6)
end
-- The score is made as text: to write out a number costs Redis as much as a whole command.
local put = redis.pcall('ZADD', ready, seconds .. '.' .. micros, id)
if type(put) == 'table' then
    redis.call('HDEL', jobs, id)
    redis.call('SREM', call, number, mark)
    return put
end
if told[2] and told[2] > seconds then -- as inc/results.lua, without its functions
    redis.call('DEL', string.sub(jobs, 1, -5) .. 'result:' .. id)
end
if added == 2 then
    redis.call('PEXPIRE', call, '120000')
end
if there % 2 == 0 and (there < 2 or redis.call('EXISTS', paused) == 0) then
    redis.call('LPUSH', wake, '1')
end
if type(redis.pcall('HINCRBY', stats, 'pushed', '1')) == 'table' then
-- @inside count
    count(stats, 'pushed', '1')
end
return 'PUSHED'
