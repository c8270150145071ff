-- progress: how far reserved jobs have come
-- KEYS   reserved held jobs records
-- ARGV   (id text)...
-- reply  the positions (from 1) of ids that are LOST
--
-- text  `"done":…,"total":…,"text":…}`, kept in the record as tag `g` with the time before it
--
-- The first write is a ZREM of no member, since a full Redis accepts a script that begins with it.

-- @include now
-- @include guard
-- @include owned
-- @include record

local list, texts = {}, {}
for i = 1, #ARGV / 2 do
    list[i] = ARGV[2 * i - 1]
end
guard(#list, {}, {})
local ids, at, lost = owned(list)
local known, head = {}, string.format('{"at":%.6f,', now)
for n = 1, #ids do
    if redis.call('HEXISTS', jobs, ids[n]) == 1 then
        known[#known + 1] = ids[n]
        texts[#texts + 1] = head .. string.gsub(ARGV[2 * (at and at[n] or n)], '\n', ' ')
    end
end
if #known > 0 then
    local old = records_of(known)
    for n = 1, #known do
        texts[n] = with_value(old[n], 'g', texts[n])
    end
    redis.call('ZREM', reserved, '')
    keep_records(known, texts)
end
return lost
