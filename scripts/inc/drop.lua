-- @include guard
-- @include forget
-- @include count
-- @include flow

-- Drops the first `most` members of a set and counts them. A member that is its own document was
-- not adopted yet. It is counted as adopted too, so that the sums stay right.
local function drop(set, most, counter)
    guard(most, {}, { jobs, stats })
    local ids = redis.call('ZRANGE', set, 0, most - 1)
    if #ids > 0 then
        local members = recorded and flow_of(ids, records_of(ids))
        redis.call('ZREMRANGEBYRANK', set, 0, #ids - 1)
        local known = forget(ids)
        count(stats, counter, #ids)
        if known < #ids then
            count(stats, 'adopted', #ids - known)
        end
        flow_tell(members, 'g')
    end
    return #ids
end
