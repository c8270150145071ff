-- @include guard
-- @include owned
-- @include forget
-- @include stay
-- @include count

-- Ends reserved jobs for good and counts them; returns the positions of the LOST. Only what had a
-- document still is counted: where somebody put the id of a reserved job into `ready` by hand, two
-- tokens had it, and the other has ended it.
local function settle(members, counter)
    guard(#members, { unique }, { jobs, stats })
    local held, ids, _, lost = owned(members)
    if #held > 0 then
        local texts = recorded and records_of(ids)
        redis.call('ZREM', reserved, unpack(held))
        local known = forget(ids)
        if texts then
            stay_taken(ids, texts)
        end
        if known > 0 then
            count(stats, counter, known)
        end
    end
    return lost
end
