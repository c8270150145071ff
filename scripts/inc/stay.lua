-- @include now
-- @include record

-- An id may ask to stay taken after its job: tag `u`, seconds; or tag `d`, until when. When the job
-- has ended, all that is left of its record is tag `t`, the time until which it is taken; `unique`
-- has these ids by that time, so that they can be freed.

-- Frees the first ids whose time has passed, at most so many. One that was pushed again since then
-- has another record.
local function free_passed(most)
    local over = redis.call('ZRANGEBYSCORE', unique, '-inf', now, 'LIMIT', 0, most)
    if #over == 0 then
        return
    end
    redis.call('ZREM', unique, unpack(over))
    local texts, free = records_of(over), {}
    for i = 1, #over do
        if (number(value_of(texts[i], 't') or '', 0, 1e12) or now + 1) <= now then
            free[#free + 1] = over[i]
        end
    end
    if #free > 0 then
        redis.call('HDEL', records, unpack(free))
    end
end

-- Jobs have ended: their ids, if they asked, stay taken. Twice as many others whose time has
-- passed go, so that `unique` does not grow for long beyond what is needed.
local function stay_taken(ids, texts)
    local kept, ends, rest = {}, {}, {}
    for i = 1, #ids do
        local seconds = number(value_of(texts[i], 'u') or '', 0, 1e9)
        local till = seconds and now + seconds or number(value_of(texts[i], 'd') or '', now, 1e12)
        if till then
            local last = string.format('%.6f', till)
            kept[#kept + 1], rest[#rest + 1] = ids[i], 't=' .. last .. '\n'
            ends[#ends + 1] = last
            ends[#ends + 1] = ids[i]
        end
    end
    if #kept > 0 then
        free_passed(2 * #kept)
        keep_records(kept, rest)
        redis.call('ZADD', unique, unpack(ends))
    end
end
