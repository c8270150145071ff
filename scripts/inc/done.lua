-- @include lines

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
