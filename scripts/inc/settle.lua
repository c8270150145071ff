-- @include guard
-- @include owned
-- @include forget
-- @include count

-- Only jobs with records need this. To make its functions costs as much as some commands, so they
-- are made when it is called. It only reads; returns what is to be done once these jobs are gone.
local function going(ids, state, left)
-- @inside after
    local texts, given = records_of(ids), {}
    local members = flow_of(ids, texts)
    for i = 1, members and left and #ids or 0 do
        local value = left[ids[i]]
        if value and value ~= 'null' and value_of(texts[i], 's') then
            given[ids[i]] = value
            flow_leave(ids[i], value)
        end
    end
    redis.call('ZCARD', delayed) -- fails on a wrong type before the first write
    return function()
        stay_taken(ids, texts)
        local _, pushed = again(ids, texts)
        if pushed > 0 then
            count(stats, 'pushed', pushed)
        end
        local freed = flow_tell(members, state)
        for _, member in ipairs(left and members or {}) do
            if given[member[2]] then
                hand_on(flow_key(member[1]), member[2], given[member[2]])
            end
        end
        return freed
    end
end

-- Ends reserved jobs for good and counts them; returns the positions of the LOST, and whether
-- others have become ready by that. A job without a document counts as withdrawn: somebody had put
-- the id of a reserved job into `ready` by hand, so two tokens had it, and the other one has ended
-- it. `left`: id → the value of each of these jobs, JSON; or nil.
local function settle(list, counter, left)
    guard(#list, recorded and { unique } or {}, { jobs, stats })
    local ids, _, lost = owned(list)
    local freed = false
    if #ids > 0 then
        local gone = recorded and going(ids, counter == 'done' and 'd' or 'g', left)
        take_out(ids)
        local known = forget(ids)
        if known > 0 then
            count(stats, counter, known)
        end
        if known < #ids then
            count(stats, 'withdrawn', #ids - known)
        end
        freed = gone and gone()
    end
    return lost, freed
end
