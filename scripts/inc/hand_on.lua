-- @include flow

-- The value of a step that is done is for those that wait for it, or still may. A flow may have
-- gone already; one in another queue has nothing under this key, and hears of it by news.
local function hand_on(key, id, value)
    local job = flow_read(key, id)
    local step = job and job.state == 'd' and job.step or '-'
    if step ~= '-' and (redis.call('HEXISTS', key, 'a:' .. step) == 1
        or redis.call('HGET', key, 'closed') ~= '1') then
        redis.pcall('HSET', key .. ':values', step, value)
    end
end

-- The ways to other queues carry it behind a `=`. Movers read text, which has no zero bytes.
local function flow_leave(id, value)
    flow_left[id] = not string.find(value, '%z') and '=' .. value or nil
end
