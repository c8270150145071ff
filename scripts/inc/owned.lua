-- How many of the members, from the first on, lie behind one another in `reserved` in this very
-- order. What one reserve took has one score, and members of one score are sorted; so jobs that are
-- settled in the order of their ids are found by two looks, without a score being spelled for each
-- (an eighth of Redis's time for a job that does nothing).
local function in_order(members)
    local rank = #members > 1 and redis.call('ZRANK', reserved, members[1])
    if not rank or redis.call('ZRANGE', reserved, rank + 1, rank + 1)[1] ~= members[2] then
        return 0
    end
    local row, n = redis.call('ZRANGE', reserved, rank, rank + #members - 1), 2
    while n < #members and row[n + 1] == members[n + 1] do
        n = n + 1
    end
    return n
end

-- Splits members into those still reserved and the positions of those that are not. Of the first:
-- the members, each once, their ids (TOKEN is 16 characters, then a colon), their positions.
local function owned(members)
    local held, ids, at, lost = {}, {}, {}, {}
    local sub, n = string.sub, in_order(members)
    for i = 1, n do
        held[i], ids[i], at[i] = members[i], sub(members[i], 18), i
    end
    if n > 0 and n == #members then
        return held, ids, at, lost
    end
    local rest, seen = n, {}
    for i = 1, n do
        seen[members[i]] = true
    end
    local scores = redis.call('ZMSCORE', reserved, unpack(members, rest + 1))
    for i = rest + 1, #members do
        local member = members[i]
        if not scores[i - rest] then
            lost[#lost + 1] = i
        elseif not seen[member] then
            n, seen[member] = n + 1, true
            held[n], ids[n], at[n] = member, sub(member, 18), i
        end
    end
    return held, ids, at, lost
end
