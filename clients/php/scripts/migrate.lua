-- migrate: due delayed jobs become ready; which leases have run out?
-- KEYS   ready delayed reserved jobs records unique wake paused stats cron
-- ARGV   limit
-- reply  promoted, seconds until the next is due, seconds until the next lease ends ('' = none),
--        the present, seconds until the next tick of a schedule, whether anything is left here to
--        look at (0: the queue rests), then tokens whose leases have run out, at most 100
--
-- limit   at most this many jobs, 1 to 500; fewer if the documents that are adopted exceed 256 KiB
--
-- It leaves a wake if ready jobs have none, so that a plain ZADD is found too. It also frees up to
-- `limit` ids that stayed taken after their jobs and whose time has passed (inc/stay.lua).

-- From its head, by scripts/expand.awk:
if #KEYS ~= 10 or #ARGV ~= 1 then
    return redis.error_reply('ERR usage: migrate: KEYS ready delayed reserved jobs records unique wake paused stats cron ARGV limit')
end
local ready, delayed, reserved, jobs, records, unique, wake, paused, stats, cron = unpack(KEYS)
local limit = unpack(ARGV, 1, 1)

-- The time by Redis's clock, in seconds. It is read only once, since TIME may advance while a
-- script runs.
local clock = redis.call('TIME')
local now = clock[1] + clock[2] / 1000000
-- Returns the number that a text spells in plain decimals if it is between `least` and `most`, else
-- nil. Lua's own tonumber would also take nan, inf, 0x10 and 1e9.
local function number(text, least, most)
    local n = string.find(text, '^%-?%d+%.?%d*$') and tonumber(text)
    return n and n >= least and n <= most and n or nil
end

local function whole(text, least, most)
    return not string.find(text, '.', 1, true) and number(text, least, most) or nil
end
-- Scripts do not roll back, so this is checked before the first write: at most 500 jobs a call
-- (unpack takes 7,999 values), and keys of the right type. ZCARD and HLEN fail on any other type.
local function guard(count, sets, hashes)
    if count > 500 then
        error({ err = 'ERR at most 500 jobs a call' })
    end
    for i = 1, #sets do
        redis.call('ZCARD', sets[i])
    end
    for i = 1, #hashes do
        redis.call('HLEN', hashes[i])
    end
end
-- Leaves one element in `wake` if a worker would find work, else none. DEL comes first, so that
-- there are never two, and so that a full Redis accepts the script. If `filled`, the caller has
-- just put jobs into `ready`; then DEL is needed only if there is an element already.
local function leave_wake(filled)
    local work = (filled or redis.call('ZCARD', ready) > 0) and redis.call('EXISTS', paused) == 0
    if not filled or redis.call('EXISTS', wake) == 1 then
        redis.call('DEL', wake)
    end
    if work then
        redis.call('LPUSH', wake, 1)
    end
end
-- Makes an id for a document: the SHA-1 of its bytes, or SHA1-2, SHA1-3 … if that id is taken. It
-- may be taken by other bytes with the same SHA-1, or by the same document under another bad id,
-- even in this call. After 100 tries the id is made from the time in microseconds.
local given = {}
local function adopt(document)
    local sha = redis.sha1hex(document)
    local n, id = given[sha] or 0, nil
    repeat
        n = n + 1
        id = n == 1 and sha or sha .. '-' .. n
    until n > 100 or redis.call('HEXISTS', jobs, id) == 0
    given[sha] = n
    return n <= 100 and id or sha .. '-' .. string.format('%.0f', now * 1000000 + n)
end
-- Adds to a number in a hash and returns the sum. If another program has put something there that
-- is not a number, the count starts again from 0: an error would stop the script half-way.
local function count(hash, field, by)
    local sum = redis.pcall('HINCRBY', hash, field, by)
    if type(sum) == 'table' then
        if string.find(sum.err, 'OOM', 1, true) then
            error(sum) -- the first write of this call, on a full Redis: nothing was changed
        end
        redis.call('HDEL', hash, field)
        sum = redis.call('HINCRBY', hash, field, by)
    end
    return sum
end

-- Texts that consist of lines `TAG=VALUE`: records, definitions and states of schedules.

local function value_of(record, tag)
    return record ~= '' and string.match('\n' .. record, '\n' .. tag .. '=([^\n]*)') or nil
end

-- Reads a count; 0 if there is none. If another program has put something there that is not a
-- number, it counts as 0: an error would stop the script half-way.
local function count_of(record, tag)
    return whole(value_of(record, tag) or '', 0, 1000000000) or 0
end

-- Returns the record with a new value for the tag, or without the tag if the value is nil.
local function with_value(record, tag, value)
    local rest = string.sub(string.gsub('\n' .. record, '\n' .. tag .. '=[^\n]*', ''), 2)
    if rest ~= '' and string.byte(rest, -1) ~= 10 then
        rest = rest .. '\n'
    end
    return value and rest .. tag .. '=' .. value .. '\n' or rest
end

-- A record is what laterd keeps beside a document: lines `TAG=VALUE`, where a value is anything
-- without a line end (doc/protocol.md, "Records"). A script that changes a tag leaves all others as
-- they are, even those that it does not know. Most queues have no records, so one HLEN saves the
-- look-ups.
local recorded = redis.call('HLEN', records) > 0

-- Returns the records of ids, '' for an id without one.
local function records_of(ids)
    local found = recorded and redis.call('HMGET', records, unpack(ids)) or {}
    for i = 1, #ids do
        found[i] = found[i] or ''
    end
    return found
end

-- Writes the records of ids; '' removes one.
local function keep_records(ids, texts)
    local some, none = {}, {}
    for i = 1, #ids do
        if texts[i] == '' then
            none[#none + 1] = ids[i]
        else
            some[#some + 1] = ids[i]
            some[#some + 1] = texts[i]
        end
    end
    if #none > 0 and recorded then
        redis.call('HDEL', records, unpack(none))
    end
    if #some > 0 then
        redis.call('HSET', records, unpack(some))
        recorded = true
    end
end

-- Returns what the priority in a record takes off a score.
local function rank(record)
    return record ~= '' and (whole(value_of(record, 'p') or '', -100, 100) or 0) * 1000000 or 0
end

-- A push may ask that its id stays taken after its job: tag `u` says for how many seconds, or tag
-- `d` until when. When the job has ended, all that is left of its record is tag `t`, the time until
-- which the id is taken. `unique` has these ids with that time as score, so that they can be freed.

-- Frees the first ids whose time has passed, at most `most`. An id that was pushed again since then
-- has another record, which stays.
local function free_passed(most)
    local over = redis.call('ZRANGEBYSCORE', unique, '-inf', now, 'LIMIT', 0, most)
    if #over == 0 then
        return
    end
    redis.call('ZREM', unique, unpack(over))
    local texts, free = records_of(over), {}
    for i = 1, #over do
        if (number(value_of(texts[i], 't') or '', 0, 1e12) or now + 1) <= now then
            free[#free + 1] = over[i]
        end
    end
    if #free > 0 then
        redis.call('HDEL', records, unpack(free))
    end
end

-- Jobs have ended: those ids that should stay taken do. For each of them up to two whose time has
-- passed are freed, so that `unique` does not grow for long beyond what is needed.
local function stay_taken(ids, texts)
    local kept, ends, rest = {}, {}, {}
    for i = 1, #ids do
        local seconds = number(value_of(texts[i], 'u') or '', 0, 1e9)
        local till = seconds and now + seconds or number(value_of(texts[i], 'd') or '', now, 1e12)
        if till then
            local last = string.format('%.6f', till)
            kept[#kept + 1], rest[#rest + 1] = ids[i], 't=' .. last .. '\n'
            ends[#ends + 1] = last
            ends[#ends + 1] = ids[i]
        end
    end
    if #kept > 0 then
        free_passed(2 * #kept)
        keep_records(kept, rest)
        redis.call('ZADD', unique, unpack(ends))
    end
end
-- Turns the order of the jobs round. Redis keeps a set of up to 128 members as a list. To insert a
-- member it reads the scores from the beginning, so it is cheaper to insert the last job first.
local function backwards(list)
    for i = 1, #list / 2 - 1, 2 do
        local k = #list - i
        list[i], list[i + 1], list[k], list[k + 1] = list[k], list[k + 1], list[i], list[i + 1]
    end
    return list
end

local most = whole(limit, 1, 500)
if not most then
    return redis.error_reply('ERR migrate: a limit is 1 to 500')
end
local present = string.format('%.6f', now)
local only = redis.call('EXISTS', delayed, reserved, unique, cron) == 0 -- there is `ready` at most
guard(most, only and { ready } or { ready, delayed, reserved, unique, cron }, { jobs, stats })
if only then
    leave_wake()
    return { 0, '', '', present, '', redis.call('EXISTS', ready) }
end

-- In small steps: members not adopted yet are whole documents.
local promoted, size, soon, adopted = 0, 0, {}, {}
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
        local off = recorded and rank(records_of({ id })[1]) or 0
        soon[#soon + 1] = off == 0 and score or score - off
        soon[#soon + 1] = id
    end
    promoted = #soon / 2
until #due < 2 * step or promoted == most or size > 262144
if promoted > 0 then
    redis.call('ZREMRANGEBYRANK', delayed, 0, promoted - 1)
    redis.call('ZADD', ready, unpack(backwards(soon)))
end
if #adopted > 0 then
    redis.call('HSET', jobs, unpack(adopted))
    count(stats, 'adopted', #adopted / 2)
end
free_passed(most)
leave_wake()

local function seconds_until(first)
    local known = first[2] and first[2] ~= 'inf'
    return known and string.format('%.6f', math.max(0, first[2] - now)) or ''
end
local reply = {
    promoted,
    seconds_until(redis.call('ZRANGE', delayed, 0, 0, 'WITHSCORES')),
    seconds_until(redis.call('ZRANGE', reserved, 0, 0, 'WITHSCORES')),
    present,
    seconds_until(redis.call('ZRANGE', cron, 0, 0, 'WITHSCORES')),
    redis.call('EXISTS', ready, delayed, reserved, unique, cron),
}
for _, token in ipairs(redis.call('ZRANGEBYSCORE', reserved, '-inf', now, 'LIMIT', 0, 100)) do
    reply[#reply + 1] = token
end
return reply
