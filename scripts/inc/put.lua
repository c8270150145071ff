-- @include now
-- @include record
-- @include count
-- @include results
-- @include delay

-- A job of this id is in this queue from now on, due now or at a later time; `text` is its record.
-- `buried`: it is dead, since then. If there is another job of this id, it gets a number behind it.
-- It counts as pushed, also if the queue is full.
local function put_job(id, due, text, document, buried)
    local name, n = id, 0
    while redis.call('HEXISTS', jobs, name) == 1 do
        n = n + 1
        name = string.sub(id, 1, 190) .. '+' .. n
    end
    redis.call('HSET', jobs, name, document)
    keep_records({ name }, { text }) -- none: an ended job of this id may have left one
    if buried then
        redis.call('ZADD', dead, buried, name)
    else
        delay({ string.format('%.6f', math.max(now, due)), name })
    end
    if has_results(redis.call('HMGET', stats, 'results')[1], now) then
        redis.call('DEL', result_of(name))
    end
    count(stats, 'pushed', 1)
end
