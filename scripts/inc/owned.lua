-- `held` is what the token in its name holds: ids, each with the score it had in ready. Who shows
-- the token owns those that are in it, and nothing else is compared.
local token = string.sub(held, #reserved + 2)

-- Splits ids into those that are held and the positions of those that are not: ids, each once, and
-- their positions (nil: each its own); the positions of the LOST. Jobs are mostly settled in the
-- order in which they were handed out, which is theirs in `held`: then one look is enough, and no
-- score is spelled.
local in_order
local function owned(list)
    local total = #list
    if total == 0 then
        error({ err = 'ERR at least one job a call' })
    end
    redis.call('ZCARD', reserved)
    local row, same = redis.call('ZRANGE', held, 0, total - 1), total
    for i = 1, total do
        if row[i] ~= list[i] then
            same = i - 1
            break
        end
    end
    if same == total then
        in_order = list
        return list, nil, {}
    end
    local ids, at, lost, n, rest, seen = {}, {}, {}, same, same, {}
    for i = 1, same do
        ids[i], at[i], seen[list[i]] = list[i], i, true
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

-- Takes ids out; the lease ends with the last of them. Mostly all go at once: the whole set is
-- dropped for half of what each of its members would cost.
local function take_out(ids)
    if #ids == redis.call('ZCARD', held) then
        redis.call('DEL', held)
        redis.call('ZREM', reserved, token)
    elseif ids == in_order then
        redis.call('ZREMRANGEBYRANK', held, 0, #ids - 1)
    else
        redis.call('ZREM', held, unpack(ids))
    end
end
