-- @include now
-- @include guard
-- @include give_up
-- @include fail
-- @include again
-- @include count
-- @include backwards
-- @include flow

local buried_how = { ran = true, crashed = true, unrun = true }

-- Makes reserved jobs dead, each with how and why. Returns the positions of the LOST, and the
-- records of those that are dead now. If a job's id was pushed again meanwhile (inc/again.lua), the
-- new job replaces it, and nothing is buried.
local function bury(list, hows, whys)
    guard(#list, { delayed, dead }, { jobs, stats })
    local ids, at, lost = give_up(list)
    if #ids == 0 then
        return lost, {}
    end
    local texts = records_of(ids)
    local members, still = flow_of(ids, texts), {}
    for n = 1, #ids do
        local how, why = hows[at[n]], whys[at[n]]
        if how == 'unrun' then
            texts[n] = with_error(texts[n], count_of(texts[n], 'a'), why)
        else
            texts[n] = failed(texts[n], why)
        end
        if how == 'crashed' then
            texts[n] = crashed(texts[n])
        end
    end
    local left, replaced = again(ids, texts, true)
    local buried, names, notes = {}, {}, {}
    for k, n in ipairs(left) do
        buried[2 * k - 1], buried[2 * k] = now + k / 1000000, ids[n]
        names[k], notes[k] = ids[n], texts[n]
        still[ids[n]] = true
    end
    if #left > 0 then
        keep_records(names, notes)
        redis.call('ZADD', dead, unpack(backwards(buried)))
        count(stats, 'buried', #left)
    end
    if replaced > 0 then
        count(stats, 'released', replaced)
        count(stats, 'replaced', replaced)
    end
    flow_tell(members, 'x', still)
    return lost, notes
end
