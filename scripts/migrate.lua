-- migrate: due delayed jobs become ready; which leases have run out?
-- KEYS   ready delayed reserved jobs records unique wake paused stats cron news away
-- ARGV   limit
-- reply  promoted, seconds until the next is due, seconds until the next lease ends ('' = none),
--        the present, seconds until the next tick of a schedule, whether anything is left here to
--        look at (0: the queue rests; 2: news of flows is to be moved; 3: and flow_seek is to be
--        called), then tokens whose leases have run out, at most 100
--
-- limit   at most this many jobs, 1 to 500; fewer if the documents that are adopted exceed 256 KiB
--
-- It leaves a wake if ready jobs have none, so that a plain ZADD is found too. It also frees up to
-- `limit` ids that stayed taken after their jobs and whose time has passed (inc/stay.lua).

-- @include now
-- @include number
-- @include guard
-- @include wake
-- @include adopt
-- @include count
-- @include record
-- @include stay
-- @include backwards
-- @include share
-- @include guard_fair

local most = whole(limit, 1, LATER_BATCH_MAX)
if not most then
    return redis.error_reply('ERR migrate: a limit is 1 to LATER_BATCH_MAX')
end
local present = string.format('%.6f', now)
-- There is `ready` at most.
local only = redis.call('EXISTS', delayed, reserved, unique, cron, news, away) == 0
guard(most, only and { ready } or { ready, delayed, reserved, unique, cron, news, away },
    { jobs, stats })
guard_fair()
if only then
    local groups = fair({})
    if groups then
        groups.plain()
    end
    leave_wake()
    return { 0, '', '', present, '', redis.call('EXISTS', ready) }
end

-- In small steps: members not adopted yet are whole documents.
local promoted, size, soon, adopted, ids, texts = 0, 0, {}, {}, {}, {}
repeat
    local step = math.min(8, most - promoted)
    local due = redis.call('ZRANGEBYSCORE', delayed, '-inf', now, 'WITHSCORES', 'LIMIT', promoted,
        step)
    for i = 1, #due, 2 do
        local id, score = due[i], due[i + 1]
        if string.byte(id) == 123 and redis.call('HEXISTS', jobs, id) == 0 then
            adopted[#adopted + 1] = adopt(id)
            adopted[#adopted + 1] = id
            size = size + #id
            id = adopted[#adopted - 1]
        end
        local text = recorded and records_of({ id })[1] or ''
        local off = rank(text)
        ids[#ids + 1], texts[#texts + 1] = id, text
        soon[#soon + 1] = off == 0 and score or score - off
        soon[#soon + 1] = id
    end
    promoted = #soon / 2
until #due < 2 * step or promoted == most or size > 262144
if promoted > 0 then
    redis.call('ZREMRANGEBYRANK', delayed, 0, promoted - 1)
    local shared = fair(texts)
    if shared then
        shared.place(soon, texts)
        keep_records(ids, texts)
    end
    redis.call('ZADD', ready, unpack(backwards(soon)))
end
if #adopted > 0 then
    redis.call('HSET', jobs, unpack(adopted))
    count(stats, 'adopted', #adopted / 2)
end
local groups = fair({})
if groups then
    groups.plain()
end
free_passed(most)
leave_wake()

local function seconds_until(first)
    local known = first[2] and first[2] ~= 'inf'
    return known and string.format('%.6f', math.max(0, first[2] - now)) or ''
end

-- What is left here to look at.
local function left()
    if redis.call('EXISTS', news, away) == 0 then
        return math.min(1, redis.call('EXISTS', ready, delayed, reserved, unique, cron))
    end
    return redis.call('ZCOUNT', away, '-inf', now) > 0 and 3 or redis.call('EXISTS', news) + 1
end

local reply = {
    promoted,
    seconds_until(redis.call('ZRANGE', delayed, 0, 0, 'WITHSCORES')),
    seconds_until(redis.call('ZRANGE', reserved, 0, 0, 'WITHSCORES')),
    present,
    seconds_until(redis.call('ZRANGE', cron, 0, 0, 'WITHSCORES')),
    left(),
}
for _, token in ipairs(redis.call('ZRANGEBYSCORE', reserved, '-inf', now, 'LIMIT', 0, 100)) do
    reply[#reply + 1] = token
end
return reply
