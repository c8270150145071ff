-- @include record
-- @include escape
-- @include delay

-- If a push in mode `again` finds its id reserved, it leaves the new job in tag `n` of the record:
-- `DUE RECORD DOCUMENT`, the last two escaped. These jobs have now ended. Where one has an `n`,
-- that job goes into `delayed`, and the migrators are told if it is the first there. Returns the
-- positions of the ids without an `n`, and how many had one. `stays`: the new jobs belong to the
-- same flows, since the old ones have not ended well.
local function again(ids, texts, stays)
    local left, names, notes, fresh, later = {}, {}, {}, {}, {}
    for i = 1, #ids do
        local due, note, document = string.match(value_of(texts[i], 'n') or '',
            '^(%d+%.%d+) (%S*) (.+)$')
        if due then
            names[#names + 1] = ids[i]
            notes[#notes + 1] = with_value(unescape(note), 'f', stays and value_of(texts[i], 'f'))
            fresh[#fresh + 1] = ids[i]
            fresh[#fresh + 1] = unescape(document)
            later[#later + 1] = due
            later[#later + 1] = ids[i]
        else
            left[#left + 1] = i
        end
    end
    if #names > 0 then
        redis.call('HSET', jobs, unpack(fresh))
        keep_records(names, notes)
        delay(later)
    end
    return left, #names
end
