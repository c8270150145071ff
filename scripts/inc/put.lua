-- @include now
-- @include record
-- @include count
-- @include results
-- @include delay

-- A job of this id is in this queue from now on, due now or at a later time; `text` is its record.
-- If there is another job of this id, it gets a number behind it. It counts as pushed, also if the
-- queue is full.
local function put_job(id, due, text, document)
    local name, n = id, 0
    while redis.call('HEXISTS', jobs, name) == 1 do
        n = n + 1
        name = string.sub(id, 1, 190) .. '+' .. n
    end
    redis.call('HSET', jobs, name, document)
    if text ~= '' then
        keep_records({ name }, { text })
    end
    delay({ string.format('%.6f', math.max(now, due)), name })
    if has_results(redis.call('HMGET', stats, 'results')[1], now) then
        redis.call('DEL', result_of(name))
    end
    count(stats, 'pushed', 1)
end
