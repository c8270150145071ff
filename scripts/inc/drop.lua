-- @include guard
-- @include forget
-- @include count
-- @include flow

-- Drops the first `most` members of a set and counts them. A member that is its own document was
-- not adopted yet. It is counted as adopted too, so that the sums stay right. `left`, if any,
-- is called with them and their records.
local function drop(set, most, counter, left)
    guard(most, {}, { jobs, stats })
    local ids = redis.call('ZRANGE', set, 0, most - 1)
    if #ids > 0 then
        local texts = recorded and records_of(ids)
        local members = texts and flow_of(ids, texts)
        redis.call('ZREMRANGEBYRANK', set, 0, #ids - 1)
        if texts and left then
            left(ids, texts)
        end
        local known = forget(ids)
        count(stats, counter, #ids)
        if known < #ids then
            count(stats, 'adopted', #ids - known)
        end
        flow_tell(members, 'g')
    end
    return #ids
end
