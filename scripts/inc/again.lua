-- @include record
-- @include escape

-- A push in the mode `again` has found the id reserved: tag `n` of its record is what is to run
-- after it, `DUE RECORD DOCUMENT`, the last two escaped. Now that the job has ended, those are put
-- into `delayed`; a migrator hears of it. Returns the positions of the others, and how many these
-- were.
local function again(ids, texts)
    local left, names, notes, fresh, later = {}, {}, {}, {}, {}
    for i = 1, #ids do
        local due, note, document = string.match(value_of(texts[i], 'n') or '',
            '^(%d+%.%d+) (%S*) (.+)$')
        if due then
            names[#names + 1], notes[#notes + 1] = ids[i], unescape(note)
            fresh[#fresh + 1] = ids[i]
            fresh[#fresh + 1] = unescape(document)
            later[#later + 1] = due
            later[#later + 1] = ids[i]
        else
            left[#left + 1] = i
        end
    end
    if #names > 0 then
        local before = redis.call('ZRANGE', delayed, 0, 0, 'WITHSCORES')
        redis.call('HSET', jobs, unpack(fresh))
        keep_records(names, notes)
        redis.call('ZADD', delayed, unpack(later))
        local first = redis.call('ZRANGE', delayed, 0, 0, 'WITHSCORES')
        if first[2] ~= before[2] then
            redis.call('PUBLISH', string.sub(delayed, 1, -8) .. 'due', first[2])
        end
    end
    return left, #names
end
