-- `held` is the set of jobs that the token in its name holds, each with the score it had in ready.
-- Whoever shows the token owns the jobs in the set; nothing else is compared.
local token = string.sub(held, #reserved + 2)

-- Splits a list of ids. Returns those that are held, each once; their positions in the list; and
-- the positions of the LOST. Jobs are mostly settled in the order in which they were handed out,
-- which is their order in `held`. Then one ZRANGE is enough, Redis need not write out scores, and
-- instead of the positions nil is returned.
-- A caller that has read all of `held` puts it into `in_order`; it is not compared again. `entire`:
-- there are no others in the set.
local in_order, entire
local function owned(list)
    if list == in_order then
        entire = true
        return list, nil, {}
    end
    local total = #list
    if total == 0 then
        error({ err = 'ERR at least one job a call' })
    end
    redis.call('ZCARD', reserved)
    local row, same = redis.call('ZRANGE', held, 0, total), total -- one more than asked for
    for i = 1, total do
        if row[i] ~= list[i] then
            same = i - 1
            break
        end
    end
    if same == total then
        in_order, entire = list, #row == total
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

-- Takes ids out of the set; the lease ends with the last of them. Mostly all of them go at once,
-- and to drop the whole set costs half as much as to remove its members.
local function take_out(ids)
    if ids ~= in_order then
        entire = #ids == redis.call('ZCARD', held)
    end
    if entire then
        redis.call('DEL', held)
        redis.call('ZREM', reserved, token)
    elseif ids == in_order then
        redis.call('ZREMRANGEBYRANK', held, 0, #ids - 1)
    else
        redis.call('ZREM', held, unpack(ids))
    end
end
