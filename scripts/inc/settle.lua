-- @include guard
-- @include owned
-- @include forget
-- @include count

-- Ends reserved jobs for good and counts them; returns the positions of the LOST.
local function settle(members, counter)
    guard(#members, {}, { jobs, attempts, crashes, interrupts, priorities, errors, stats })
    local held, ids, _, lost = owned(members)
    if #held > 0 then
        redis.call('ZREM', reserved, unpack(held))
        forget(ids)
        count(stats, counter, #held)
    end
    return lost
end
