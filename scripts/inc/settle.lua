-- @include guard
-- @include owned
-- @include forget
-- @include stay
-- @include again
-- @include count
-- @include flow

-- Ends reserved jobs for good and counts them; returns the positions of the LOST. A job without a
-- document counts as withdrawn: somebody had put the id of a reserved job into `ready` by hand, so
-- two tokens had it, and the other one has ended it.
local function settle(list, counter)
    guard(#list, { unique }, { jobs, stats })
    local ids, _, lost = owned(list)
    if #ids > 0 then
        local texts = recorded and records_of(ids)
        local members = texts and flow_of(ids, texts)
        if texts then
            redis.call('ZCARD', delayed) -- fails on a wrong type before the first write
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
        flow_tell(members, counter == 'done' and 'd' or 'g')
    end
    return lost
end
