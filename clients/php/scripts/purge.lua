-- purge: drop the first jobs of a state
-- KEYS   ready delayed dead jobs records stats done kept
-- ARGV   state limit
-- reply  how many were dropped; fewer than the limit: the state is empty

-- From its head, by scripts/expand.awk:
if #KEYS ~= 8 or #ARGV ~= 2 then
    return redis.error_reply('ERR usage: purge: KEYS ready delayed dead jobs records stats done kept ARGV state limit')
end
local ready, delayed, dead, jobs, records, stats, done, kept = unpack(KEYS)
local state, limit = unpack(ARGV, 1, 2)

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

-- Drops the documents and records of ids; returns how many documents there were. An id that should
-- stay taken after its job is free at once, unless the caller calls stay_taken() afterwards.
local function forget(ids)
    if recorded then
        redis.call('HDEL', records, unpack(ids))
    end
    return redis.call('HDEL', jobs, unpack(ids))
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

-- Drops the first `most` members of a set and counts them. A member that is its own document was
-- not adopted yet. It is counted as adopted too, so that the sums stay right.
local function drop(set, most, counter)
    guard(most, {}, { jobs, stats })
    local ids = redis.call('ZRANGE', set, 0, most - 1)
    if #ids > 0 then
        redis.call('ZREMRANGEBYRANK', set, 0, #ids - 1)
        local known = forget(ids)
        count(stats, counter, #ids)
        if known < #ids then
            count(stats, 'adopted', #ids - known)
        end
    end
    return #ids
end

-- Jobs that are done and kept are outside the queue and its sums. `done` has their ids, with the
-- time until which they are kept as score. `kept` has, under each id, its record, an empty line and
-- its document.

local function done_of(id)
    local text = redis.call('HGET', kept, id)
    local ends = text and string.find(text, '\n\n', 1, true)
    if not ends then
        return '', text or ''
    end
    return string.sub(text, 1, ends), string.sub(text, ends + 2)
end

-- Drops the `most` (at least 1) whose time ends first; returns how many there were.
local function drop_done(most)
    local ids = redis.call('ZRANGE', done, 0, most - 1)
    if #ids > 0 then
        redis.call('ZREM', done, unpack(ids))
        redis.call('HDEL', kept, unpack(ids))
    end
    return #ids
end

local sets = { ready = ready, delayed = delayed, dead = dead }
local most = whole(limit, 1, 500)
if not (sets[state] or state == 'done') or not most then
    return redis.error_reply('ERR purge: ready, delayed, dead or done; a limit of 1 to 500')
end
if state == 'done' then
    guard(most, { done }, { kept })
    return drop_done(most)
end
return drop(sets[state], most, 'purged')
