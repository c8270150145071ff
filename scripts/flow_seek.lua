-- flow_seek: look after the jobs that flows of this queue have elsewhere
-- KEYS   jobs records stats flows news away
-- ARGV   none
-- reply  how many are asked for; '' if no flow's turn has come
--
-- The flow whose turn has come asks where up to about a hundred of its jobs are that have not ended (`look`
-- of flow_hear). What is nowhere, since Redis has lost writes or its pusher died, is lost then. A flow
-- has its first turn a minute after it got such a job, then every five minutes; a long one comes piece
-- by piece. For a job that flow_park has not put there yet, it waits until ten minutes after the last
-- flow_join.

-- @include now
-- @include guard
-- @include flow

guard(0, { flows, news, away }, { jobs, records, stats })
local name = redis.call('ZRANGEBYSCORE', away, '-inf', now, 'LIMIT', 0, 1)[1]
if not name then
    return ''
end
redis.call('ZREM', news, '') -- first: a full Redis takes all that comes after it
local key, till = flow_key(name), redis.call('ZSCORE', flows, name)
if till ~= 'inf' or type(redis.pcall('HLEN', key)) ~= 'number' then
    redis.call('ZREM', away, name)
    return 0
elseif redis.call('ZCARD', news) > 1000 then
    redis.call('ZADD', away, string.format('%.6f', now + 60), name)
    return 0
end
local told = redis.call('HMGET', key, 'sought', 'asked')
local late = now - (tonumber(told[2] or '') or 0) > 600
local page, asked = redis.call('HSCAN', key, told[1] or '0', 'MATCH', 'j:*', 'COUNT', 100), 0
for i = 1, #page[2], 2 do
    local job = flow_read(key, string.sub(page[2][i], 3))
    if job and job.queue and not final[job.state] and (late or tonumber(job.number) > 0) then
        flow_send('look', job.queue, name, job.id, job.number, job.state)
        asked = asked + 1
    end
end
redis.call('HSET', key, 'sought', page[1])
redis.call('ZADD', away, string.format('%.6f', now + (page[1] == '0' and 300 or 1)), name)
flow_post()
return asked
