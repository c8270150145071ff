-- @include guard
-- @include owned
-- @include forget
-- @include stay
-- @include again
-- @include count

-- Ends reserved jobs for good and counts them; returns the positions of the LOST. Only what had a
-- document still is counted: where somebody put the id of a reserved job into `ready` by hand, two
-- tokens had it, and the other has ended it.
local function settle(list, counter)
    guard(#list, { unique }, { jobs, stats })
    local ids, _, lost = owned(list)
    if #ids > 0 then
        local texts = recorded and records_of(ids)
        if texts then
            redis.call('ZCARD', delayed) -- else of a wrong type found too late
        end
        take_out(ids)
        local known = forget(ids)
        if texts then
            stay_taken(ids, texts)
            local _, pushed = again(ids, texts)
            if pushed > 0 then
                count(stats, 'pushed', pushed)
            end
        end
        if known > 0 then
            count(stats, counter, known)
        end
        if known < #ids then
            count(stats, 'withdrawn', #ids - known)
        end
    end
    return lost
end
