-- progress: how far reserved jobs have come, where their next attempts go on, what they have logged
-- KEYS   reserved held jobs records
-- ARGV   (id text checkpoint log)...
-- reply  the positions (from 1) of ids that are LOST
--
-- text        `"done":…,"total":…,"text":…}`, kept in the record as tag `g` with the time before it
-- checkpoint  a JSON value, kept as tag `m`
-- log         `{"dropped":N,"lines":[…]}`, kept as tag `o`; '' in the place of any: what is there stays
--
-- The first write is a ZREM of no member, since a full Redis accepts a script that begins with it.

-- @include now
-- @include guard
-- @include owned
-- @include record

local function noted(record, tag, head, text)
    if text == '' then
        return record
    end
    return with_value(record, tag, head .. string.gsub(text, '\n', ' '))
end

local list = {}
for i = 1, #ARGV / 4 do
    list[i] = ARGV[4 * i - 3]
end
guard(#list, {}, {})
local ids, at, lost = owned(list)
local known, places, head = {}, {}, string.format('{"at":%.6f,', now)
for n = 1, #ids do
    if redis.call('HEXISTS', jobs, ids[n]) == 1 then
        known[#known + 1], places[#places + 1] = ids[n], at and at[n] or n
    end
end
if #known > 0 then
    local texts = records_of(known)
    for n, i in ipairs(places) do
        texts[n] = noted(noted(texts[n], 'g', head, ARGV[4 * i - 2]), 'm', '', ARGV[4 * i - 1])
        texts[n] = noted(texts[n], 'o', '', ARGV[4 * i])
    end
    redis.call('ZREM', reserved, '')
    keep_records(known, texts)
end
return lost
