-- The job that chain_on.lua has left becomes ready.
if freed then
    redis.call('ZADD', base .. 'ready', freed_score, freed)
    local there = redis.call('EXISTS', base .. 'wake', base .. 'paused', base .. 'paused')
    if there == 0 then
        redis.call('LPUSH', base .. 'wake', '1')
    elseif there == 3 then -- while it is paused, nobody is woken
        redis.call('DEL', base .. 'wake')
    end
end
