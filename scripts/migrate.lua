-- migrate: due delayed jobs and lapsed reservations become ready
-- KEYS   ready delayed reserved jobs records unique wake paused stats
-- ARGV   limit lapse reason
-- reply  promoted, lapsed, seconds until the next is due, seconds until the next lease ends
--        ('' = none), the present
--
-- limit   at most so many jobs, 1 to 500; fewer where what is adopted exceeds 256 KiB
-- lapse   0: leave reservations whose lease ran out, their keepers come first; 1: return them; a
--         later UNIX time: return them until then. For a call that may run long after it was sent,
--         before a keeper that Redis kept waiting as long
-- reason  `"kind":"lapse",…}` for those, or '' to keep the one before
--
-- Leaves a wake where ready jobs have none, so that a plain ZADD is found too. Ids of jobs that
-- have ended are free when their time has passed (see push): up to `limit` of them go.

-- @include now
-- @include number
-- @include guard
-- @include wake
-- @include adopt
-- @include count
-- @include fail
-- @include stay

local most, lapsing = whole(limit, 1, 500), number(lapse, 0, 1e11)
if not most or not lapsing then
    return redis.error_reply('ERR migrate: a limit is 1 to 500, lapse is 0, 1 or a UNIX time')
end
guard(most, { ready, delayed, reserved, unique }, { jobs, stats })

-- Promotes the first that are due; returns how many, and the bytes of the documents it adopted.
local function promote(step)
    local due = redis.call('ZRANGEBYSCORE', delayed, '-inf', now, 'WITHSCORES', 'LIMIT', 0, step)
    local soon, adopted, size = {}, {}, 0
    for i = 1, #due, 2 do
        local id, score = due[i], due[i + 1]
        if string.byte(id) == 123 and redis.call('HEXISTS', jobs, id) == 0 then
            adopted[#adopted + 1] = adopt(id)
            adopted[#adopted + 1] = id
            size = size + #id
            id = adopted[#adopted - 1]
        end
        local off = recorded and rank(records_of({ id })[1]) or 0
        soon[i], soon[i + 1] = off == 0 and score or score - off, id
    end
    if #soon > 0 then
        redis.call('ZREMRANGEBYRANK', delayed, 0, #soon / 2 - 1)
        redis.call('ZADD', ready, unpack(soon))
    end
    if #adopted > 0 then
        redis.call('HSET', jobs, unpack(adopted))
        count(stats, 'adopted', #adopted / 2)
    end
    return #soon / 2, size
end

-- What has no document any more was ended under another token (inc/give_up.lua), and is gone.
local function lapse_first(step)
    local over = redis.call('ZRANGEBYSCORE', reserved, '-inf', now, 'LIMIT', 0, step)
    local soon, ids = {}, {}
    if #over > 0 then
        redis.call('ZREMRANGEBYRANK', reserved, 0, #over - 1)
    end
    for i = 1, #over do
        local id = string.sub(over[i], 18)
        if redis.call('HEXISTS', jobs, id) == 1 then
            ids[#ids + 1] = id
        end
    end
    if #ids > 0 then
        local texts = records_of(ids)
        for i = 1, #ids do
            soon[2 * i - 1], soon[2 * i] = now + i / 1000000 - rank(texts[i]), ids[i]
            texts[i] = failed(texts[i], reason)
        end
        redis.call('ZADD', ready, unpack(soon))
        keep_records(ids, texts)
        count(stats, 'lapsed', #ids)
    end
    return #over
end

-- In small steps: members not adopted yet are whole documents.
local promoted, lapsed, size = 0, 0, 0
repeat
    local step = math.min(8, most - promoted)
    local moved, adopted = promote(step)
    promoted, size = promoted + moved, size + adopted
until moved < step or promoted == most or size > 262144
if (lapsing == 1 or lapsing > now) and promoted < most then
    lapsed = lapse_first(most - promoted)
end
free_passed(most)
leave_wake()

local function seconds_until(first)
    return first[2] and string.format('%.6f', math.max(0, first[2] - now)) or ''
end
return {
    promoted,
    lapsed,
    seconds_until(redis.call('ZRANGE', delayed, 0, 0, 'WITHSCORES')),
    seconds_until(redis.call('ZRANGE', reserved, 0, 0, 'WITHSCORES')),
    string.format('%.6f', now),
}
