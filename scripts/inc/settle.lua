-- @include guard
-- @include owned
-- @include forget
-- @include stay
-- @include count

-- Ends reserved jobs for good and counts them; returns the positions of the LOST.
local function settle(members, counter)
    guard(#members, {}, { jobs, stats })
    local held, ids, _, lost = owned(members)
    if #held > 0 then
        redis.call('ZREM', reserved, unpack(held))
        forget(ids)
        stay_taken(ids)
        count(stats, counter, #held)
    end
    return lost
end
