-- show: look at jobs by their ids
-- KEYS   ready delayed dead jobs records done kept
-- ARGV   (id)...
-- reply  for each id: state ('' = no such job), score, record, document
--
-- The score of a reserved job is '': it is under a token, which the id does not tell. One that is done
-- and was kept has the state `done`, and as score the time until which it is.

-- From its head, by scripts/expand.awk:
if #KEYS ~= 7 then
    return redis.error_reply('ERR usage: show: KEYS ready delayed dead jobs records done kept ARGV (id)...')
end
local ready, delayed, dead, jobs, records, done, kept = unpack(KEYS)

-- The state of an id that has a document.
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

-- Jobs that are done and kept beside the queue, outside of its sums: `done` has their ids by the
-- time until which they are kept; `kept` under each its record, an empty line, its document.

local function done_of(id)
    local text = redis.call('HGET', kept, id)
    local ends = text and string.find(text, '\n\n', 1, true)
    if not ends then
        return '', text or ''
    end
    return string.sub(text, 1, ends), string.sub(text, ends + 2)
end

-- Drops the first `most` of them (1 at least), those first whose time is over first; returns how
-- many there were.
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
