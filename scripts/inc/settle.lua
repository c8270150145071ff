-- @include guard
-- @include owned
-- @include forget
-- @include stay
-- @include count

-- Ends reserved jobs for good and counts them; returns the positions of the LOST. Only what had a
-- document still is counted: where somebody put the id of a reserved job into `ready` by hand, two
-- tokens had it, and the other has ended it.
local function settle(members, counter)
    guard(#members, {}, { jobs, stats })
    local held, ids, _, lost = owned(members)
    if #held > 0 then
        redis.call('ZREM', reserved, unpack(held))
        local known = forget(ids)
        stay_taken(ids)
        if known > 0 then
            count(stats, counter, known)
        end
    end
    return lost
end
