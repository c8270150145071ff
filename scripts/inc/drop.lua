-- @include guard
-- @include forget
-- @include count
-- @include flow
-- @include share

-- Drops the first `most` members of a set and counts them. A member that is its own document was
-- not adopted yet. It is counted as adopted too, so that the sums stay right.
local function drop(set, most, counter)
    guard(most, {}, { jobs, stats })
    local ids = redis.call('ZRANGE', set, 0, most - 1)
    if #ids > 0 then
        local texts = recorded and records_of(ids)
        local members = texts and flow_of(ids, texts)
        redis.call('ZREMRANGEBYRANK', set, 0, #ids - 1)
        local shared = texts and set == string.sub(jobs, 1, -5) .. 'ready' and fair(texts, true)
        if shared then
            shared.leave(ids, texts)
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
