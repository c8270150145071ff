-- kick: dead or delayed jobs become ready
-- KEYS   ready delayed dead records wake paused stats
-- ARGV   (id)...
-- reply  for each id the state it came from, or '' where it is neither dead nor delayed
--
-- A dead job begins anew: its attempts and crashes are forgotten, its last error is kept.

-- From its head, by scripts/expand.awk:
if #KEYS ~= 7 then
    return redis.error_reply('ERR usage: kick: KEYS ready delayed dead records wake paused stats ARGV (id)...')
end
local ready, delayed, dead, records, wake, paused, stats = unpack(KEYS)

-- The present by Redis's clock, in seconds; read once, since TIME goes on inside a script.
local clock = redis.call('TIME')
local now = clock[1] + clock[2] / 1000000
-- What must hold before the first write, since scripts do not roll back: at most 500 jobs a call
-- (unpack takes 7,999 values), and keys of the right type: counting another one's members fails.
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
-- Leaves one token in `wake` where a worker would find work, else none; DEL first, so that there
-- are never two, and so that a full Redis accepts it. `filled`: the caller has just put jobs into
-- `ready`, so that both are settled but for a token that is there already.
local function leave_wake(filled)
    local work = (filled or redis.call('ZCARD', ready) > 0) and redis.call('EXISTS', paused) == 0
    if not filled or redis.call('EXISTS', wake) == 1 then
        redis.call('DEL', wake)
    end
    if work then
        redis.call('LPUSH', wake, 1)
    end
end
-- The number that a text spells in plain decimals, if it lies between `least` and `most`; else nil.
-- Lua's own tonumber takes nan, inf, 0x10 and 1e9 as well.
local function number(text, least, most)
    local n = string.find(text, '^%-?%d+%.?%d*$') and tonumber(text)
    return n and n >= least and n <= most and n or nil
end

local function whole(text, least, most)
    return not string.find(text, '.', 1, true) and number(text, least, most) or nil
end

-- Texts of lines `TAG=VALUE`: records, and what is kept of schedules.

local function value_of(record, tag)
    return record ~= '' and string.match('\n' .. record, '\n' .. tag .. '=([^\n]*)') or nil
end

-- A count, 0 where there is none. What is no number, put by a foreign hand, must not stop a script
-- half-way: it begins anew.
local function count_of(record, tag)
    return whole(value_of(record, tag) or '', 0, 1000000000) or 0
end

-- The record with another value; nil: without the tag.
local function with_value(record, tag, value)
    local rest = string.sub(string.gsub('\n' .. record, '\n' .. tag .. '=[^\n]*', ''), 2)
    if rest ~= '' and string.byte(rest, -1) ~= 10 then
        rest = rest .. '\n'
    end
    return value and rest .. tag .. '=' .. value .. '\n' or rest
end

-- What laterd keeps beside a document is its record: lines `TAG=VALUE`, a value being anything
-- without a line end (doc/protocol.md, "Records"). Whoever changes a tag leaves all others as they
-- are, also those that it does not know. Most queues have no records: one look for all.
local recorded = redis.call('HLEN', records) > 0

-- The records of ids, '' where there is none.
local function records_of(ids)
    local found = recorded and redis.call('HMGET', records, unpack(ids)) or {}
    for i = 1, #ids do
        found[i] = found[i] or ''
    end
    return found
end

-- Writes the records of ids.
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

-- What the priority in a record takes off a score.
local function rank(record)
    return record ~= '' and (whole(value_of(record, 'p') or '', -100, 100) or 0) * 1000000 or 0
end
-- Adds to a number in a hash and returns the sum. What is no number there, put by a foreign hand,
-- must not stop a script half-way: it begins anew.
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

guard(#ARGV, { ready, delayed, dead }, { stats })

local from, soon, placed = {}, {}, {}
local texts = records_of(ARGV)
for i = 1, #ARGV do
    local id = ARGV[i]
    from[i] = ''
    if not placed[id] then
        if redis.call('ZSCORE', dead, id) then
            from[i] = 'dead'
        elseif redis.call('ZSCORE', delayed, id) then
            from[i] = 'delayed'
        end
    end
    if from[i] ~= '' then
        placed[id] = true
        soon[#soon + 1] = now + i / 1000000 - rank(texts[i])
        soon[#soon + 1] = id
    end
end
if #soon == 0 then
    return from
end
for i = 1, #ARGV do
    if from[i] == 'dead' then
        redis.call('ZREM', dead, ARGV[i])
        for _, tag in ipairs({ 'a', 'c', 'i' }) do
            texts[i] = with_value(texts[i], tag)
        end
        if recorded then
            keep_records({ ARGV[i] }, { texts[i] })
        end
    elseif from[i] == 'delayed' then
        redis.call('ZREM', delayed, ARGV[i])
    end
end
redis.call('ZADD', ready, unpack(soon))
leave_wake()
count(stats, 'kicked', #soon / 2)
return from
