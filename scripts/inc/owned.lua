-- Splits members into those still reserved and the positions of those that are not. Of the first:
-- the members, each once, their ids (TOKEN is 16 characters, then a colon), their positions.
local function owned(members)
    local scores = redis.call('ZMSCORE', reserved, unpack(members))
    local held, ids, at, lost, seen = {}, {}, {}, {}, {}
    for i = 1, #members do
        local member = members[i]
        if not scores[i] then
            lost[#lost + 1] = i
        elseif not seen[member] then
            seen[member] = true
            held[#held + 1] = member
            ids[#held] = string.sub(member, 18)
            at[#held] = i
        end
    end
    return held, ids, at, lost
end
