-- @include record
-- @include escape

-- If a push in mode `again` finds its id reserved, it leaves the new job in tag `n` of the record:
-- `DUE RECORD DOCUMENT`, the last two escaped. These jobs have now ended. Where one has an `n`,
-- that job goes into `delayed`, and the migrators are told if it is the first there. Returns the
-- positions of the ids without an `n`, and how many had one. `stays`: the new jobs belong to the
-- same flows, since the old ones have not ended well.
local function again(ids, texts, stays)
    local left, names, notes, fresh, later = {}, {}, {}, {}, {}
    local some = string.find(table.concat(texts), 'n=', 1, true)
    for i = 1, #ids do
        local due, note, document = string.match(some and value_of(texts[i], 'n') or '',
            '^(%d+%.%d+) (%S*) (.+)$')
        if due then
            names[#names + 1] = ids[i]
            notes[#notes + 1] = unescape(note)
            for _, tag in ipairs({ 'f', 's', 'v' }) do
                notes[#notes] = with_value(notes[#notes], tag, stays and value_of(texts[i], tag))
            end
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
