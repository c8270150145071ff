-- @include lines

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
