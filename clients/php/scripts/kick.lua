-- kick: dead or delayed jobs become ready
-- KEYS   ready delayed dead records wake paused stats
-- ARGV   (id)...
-- reply  for each id the state it came from, or '' where it is neither dead nor delayed
--
-- A dead job starts afresh: its attempts and crashes are forgotten, and so is since when it was put
-- off (tag b). Its last error is kept.

-- From its head, by scripts/expand.awk:
if #KEYS ~= 7 then
    return redis.error_reply('ERR usage: kick: KEYS ready delayed dead records wake paused stats ARGV (id)...')
end
local ready, delayed, dead, records, wake, paused, stats = unpack(KEYS)

-- The time by Redis's clock, in seconds. It is read only once, since TIME may advance while a
-- script runs.
local clock = redis.call('TIME')
local now = clock[1] + clock[2] / 1000000
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
-- Returns the number that a text spells in plain decimals if it is between `least` and `most`, else
-- nil. Lua's own tonumber would also take nan, inf, 0x10 and 1e9.
local function number(text, least, most)
    local n = string.find(text, '^%-?%d+%.?%d*$') and tonumber(text)
    return n and n >= least and n <= most and n or nil
end

local function whole(text, least, most)
    return not string.find(text, '.', 1, true) and number(text, least, most) or nil
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
-- Turns the order of the jobs round. Redis keeps a set of up to 128 members as a list. To insert a
-- member it reads the scores from the beginning, so it is cheaper to insert the last job first.
local function backwards(list)
    for i = 1, #list / 2 - 1, 2 do
        local k = #list - i
        list[i], list[i + 1], list[k], list[k + 1] = list[k], list[k + 1], list[i], list[i + 1]
    end
    return list
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
        for _, tag in ipairs({ 'a', 'b', 'c', 'i' }) do
            texts[i] = with_value(texts[i], tag)
        end
        if recorded then
            keep_records({ ARGV[i] }, { texts[i] })
        end
    elseif from[i] == 'delayed' then
        redis.call('ZREM', delayed, ARGV[i])
    end
end
redis.call('ZADD', ready, unpack(backwards(soon)))
leave_wake()
count(stats, 'kicked', #soon / 2)
return from
