-- @include now
-- @include record

-- A push may ask that its id stays taken after its job: tag `u` says for how many seconds, or tag
-- `d` until when. When the job has ended, all that is left of its record is tag `t`, the time until
-- which the id is taken. `unique` has these ids with that time as score, so that they can be freed.

-- Frees the first ids whose time has passed, at most `most`. An id that was pushed again since then
-- has another record, which stays.
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

-- Jobs have ended: those ids that should stay taken do. For each of them up to two whose time has
-- passed are freed, so that `unique` does not grow for long beyond what is needed.
local function stay_taken(ids, texts)
    local all = table.concat(texts)
    if not string.find(all, 'u=', 1, true) and not string.find(all, 'd=', 1, true) then
        return
    end
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
