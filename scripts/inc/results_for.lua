-- @include now
-- @include results

-- There may be results for so many seconds from now.
local function results_for(seconds)
    -- A minute more, so that this is rarely written.
    if seconds > 0 and not has_results(redis.call('HGET', stats, 'results'), now + seconds) then
        redis.call('HSET', stats, 'results', math.ceil(now + seconds) + 60)
    end
end
