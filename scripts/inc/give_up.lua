-- @include owned
-- @include count

-- Takes jobs from their token. Returns the ids of those that still exist, their positions, and the
-- positions of the LOST. A job whose document is gone is LOST too. Somebody had put the id of a
-- reserved job into `ready` by hand, so two tokens had it, and the other one has ended it.
local function give_up(list)
    local ids, at, lost = owned(list)
    if #ids == 0 then
        return ids, {}, lost
    end
    take_out(ids)
    local left, places = {}, {}
    for i = 1, #ids do
        local place = at and at[i] or i
        if redis.call('HEXISTS', jobs, ids[i]) == 1 then
            left[#left + 1], places[#places + 1] = ids[i], place
        else
            lost[#lost + 1] = place
        end
    end
    if #left < #ids then
        count(stats, 'withdrawn', #ids - #left)
        table.sort(lost)
    end
    return left, places, lost
end
