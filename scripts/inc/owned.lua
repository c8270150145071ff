-- `held` is what the token in its name holds: ids, each with the score it had in ready. Who shows
-- the token owns those that are in it, and nothing else is compared.
local token = string.sub(held, #reserved + 2)

-- Splits ids into those that are held and the positions of those that are not: ids, each once, and
-- their positions; the positions of the LOST. Jobs are mostly settled in the order in which they
-- were handed out, which is theirs in `held`: then one look is enough, and no score is spelled.
local function owned(list)
    if #list == 0 then
        error({ err = 'ERR at least one job a call' })
    end
    redis.call('ZCARD', reserved)
    local row, ids, at, lost, n = redis.call('ZRANGE', held, 0, #list - 1), {}, {}, {}, 0
    while n < #list and row[n + 1] == list[n + 1] do
        n = n + 1
        ids[n], at[n] = list[n], n
    end
    if n == #list then
        return ids, at, lost
    end
    local rest, seen = n, {}
    for i = 1, n do
        seen[ids[i]] = true
    end
    local scores = redis.call('ZMSCORE', held, unpack(list, rest + 1))
    for i = rest + 1, #list do
        local id = list[i]
        if not scores[i - rest] then
            lost[#lost + 1] = i
        elseif not seen[id] then
            n, seen[id] = n + 1, true
            ids[n], at[n] = id, i
        end
    end
    return ids, at, lost
end

-- Takes ids out; the lease ends with the last of them.
local function take_out(ids)
    redis.call('ZREM', held, unpack(ids))
    if redis.call('EXISTS', held) == 0 then
        redis.call('ZREM', reserved, token)
    end
end
