-- @include owned

-- Takes members out of `reserved`; returns the ids of those that go on, their positions, and the
-- positions of the LOST. A job whose document is gone is LOST, too: somebody has put the id of a
-- reserved job into `ready` by hand, so that two tokens had it, and the other one has ended it.
local function give_up(members)
    local held, ids, at, lost = owned(members)
    if #held == 0 then
        return ids, at, lost
    end
    redis.call('ZREM', reserved, unpack(held))
    local left, places = {}, {}
    for i = 1, #held do
        if redis.call('HEXISTS', jobs, ids[i]) == 1 then
            left[#left + 1], places[#places + 1] = ids[i], at[i]
        else
            lost[#lost + 1] = at[i]
        end
    end
    table.sort(lost)
    return left, places, lost
end
