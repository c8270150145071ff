-- put_off: jobs that are in a line, where others call them, look for themselves later
-- KEYS   delayed records
-- ARGV   (id due later)...
-- reply  how many were put off
--
-- due    when it is due in `delayed`, exactly, and by its record. A job with another time has
--        looked or was called since, or is another one by now; it stays as it is
-- later  when it is due from now on; its record has that, too, so that hasten knows it

-- @include number
-- @include guard
-- @include record

local ids, dues, laters = {}, {}, {}
for i = 1, #ARGV / 3 do
    ids[i] = ARGV[3 * i - 2]
    dues[i], laters[i] = number(ARGV[3 * i - 1], 0, 1e11), number(ARGV[3 * i], 0, 1e11)
    if not dues[i] or not laters[i] then
        return redis.error_reply('ERR put_off: due and later are times')
    end
end
guard(#ids, { delayed }, { records })
if #ids == 0 then
    return 0
end

local scores, texts = redis.call('ZMSCORE', delayed, unpack(ids)), records_of(ids)
local off, kept, notes = {}, {}, {}
for i = 1, #ids do
    local told, line = string.match(value_of(texts[i], 'l') or '', '^(%S+)( .+)$')
    if scores[i] and tonumber(scores[i]) == dues[i] and tonumber(told or '') == dues[i] then
        off[#off + 1], off[#off + 2] = ARGV[3 * i], ids[i]
        kept[#kept + 1] = ids[i]
        notes[#notes + 1] = with_value(texts[i], 'l', ARGV[3 * i] .. line)
    end
end
if #kept > 0 then
    redis.call('ZREM', delayed, '\n') -- nothing: a full Redis accepts a script that begins with it
    redis.call('ZADD', delayed, unpack(off))
    keep_records(kept, notes)
end
return #kept
