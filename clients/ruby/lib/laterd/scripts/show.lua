-- show: look at jobs by their ids
-- KEYS   ready delayed dead jobs records done kept
-- ARGV   (id)...
-- reply  for each id: state ('' = no such job), score, record, document
--
-- The score of a reserved job is '': it is in the set of a token, which its id does not tell. A job
-- that is done and kept has the state `done`, and as score the time until which it is kept.

-- From its head, by scripts/expand.awk:
if #KEYS ~= 7 then
    return redis.error_reply('ERR usage: show: KEYS ready delayed dead jobs records done kept ARGV (id)...')
end
local ready, delayed, dead, jobs, records, done, kept = unpack(KEYS)

-- Returns the state of an id that has a document.
local function where(id)
    if redis.call('ZSCORE', ready, id) then
        return 'ready'
    elseif redis.call('ZSCORE', delayed, id) then
        return 'delayed'
    elseif redis.call('ZSCORE', dead, id) then
        return 'dead'
    end
    return 'reserved'
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
local reply = {}
for i = 1, #ARGV do
    local id = ARGV[i]
    local document = redis.call('HGET', jobs, id)
    local state = document and where(id) or ''
    local score = sets[state] and redis.call('ZSCORE', sets[state], id) or ''
    local record = document and redis.call('HGET', records, id) or ''
    if not document and redis.call('ZSCORE', done, id) then
        state, score = 'done', redis.call('ZSCORE', done, id)
        record, document = done_of(id)
    end
    reply[#reply + 1] = state
    reply[#reply + 1] = score
    reply[#reply + 1] = record
    reply[#reply + 1] = document or ''
end
return reply
