-- forget: delete the keys of a queue that has no jobs
-- KEYS   ready delayed reserved dead jobs records wake paused unique stats
-- KEYS   totals done kept waiting flows news
-- ARGV   none
-- reply  how many jobs there are; 0: none, and the keys are gone; below 0: no jobs, but so much news of
--        flows that has not been moved yet
--
-- Its counters and totals, its pauses and its kept done jobs are deleted too. Ids that stayed taken
-- after their jobs are free. Its plan of shards stays: `later forget` first takes the name out of
-- `later:queues`, and deletes the plan last. As long as one of its jobs may have left a result,
-- `stats` stays with the one field that says so: a push of that job's id has to drop it.

-- @include now
-- @include results

local left = redis.call('ZCARD', ready) + redis.call('ZCARD', delayed)
    + redis.call('ZCARD', reserved) + redis.call('ZCARD', dead)
left = math.max(left, redis.call('HLEN', jobs))
if left == 0 then
    left = -redis.call('ZCARD', news)
end
if left == 0 then
    local base = string.sub(jobs, 1, -5)
    for _, flow in ipairs(redis.call('ZRANGE', flows, 0, -1)) do
        local flow_key = base .. 'flow:' .. flow
        redis.call('UNLINK', flow_key, flow_key .. ':unknown', flow_key .. ':values',
            flow_key .. ':failed')
    end
    local laid = redis.call('HGETALL', base .. 'overrides')
    for i = 1, #laid, 2 do
        redis.call('UNLINK', base .. 'aside:' .. string.sub(laid[i], 6))
    end
    redis.call('DEL', flows, waiting, base .. 'away', base .. 'heard', base .. 'fair',
        base .. 'groups', base .. 'events', base .. 'overrides')
    local told = redis.call('HGET', stats, 'results')
    redis.call('DEL', wake, paused, records, unique, stats, totals, done, kept)
    if has_results(told, now) then
        redis.call('HSET', stats, 'results', told)
    end
end
return left
