-- bury: reserved jobs become dead, with the reason
-- KEYS   delayed reserved held dead jobs records stats
-- ARGV   (id how error)...
-- reply  the positions (from 1) of ids that are LOST
--
-- how    ran: after an attempt; crashed: after one that killed its worker; unrun: without one
-- error  `"kind":…,"text":…,"host":…}`, or '' to keep the one before

-- @include now
-- @include guard
-- @include give_up
-- @include fail
-- @include again
-- @include count

local list = {}
for i = 1, #ARGV / 3 do
    local how = ARGV[3 * i - 1]
    list[i] = ARGV[3 * i - 2]
    if how ~= 'ran' and how ~= 'crashed' and how ~= 'unrun' then
        return redis.error_reply('ERR bury: how is ran, crashed or unrun')
    end
end
guard(#list, { delayed, dead }, { jobs, stats })

local ids, at, lost = give_up(list)
if #ids == 0 then
    return lost
end
local texts = records_of(ids)
for n = 1, #ids do
    local how, why = ARGV[3 * at[n] - 1], ARGV[3 * at[n]]
    if how == 'unrun' then
        texts[n] = with_error(texts[n], count_of(texts[n], 'a'), why)
    else
        texts[n] = failed(texts[n], why)
    end
    if how == 'crashed' then
        texts[n] = crashed(texts[n])
    end
end

-- Where the id was pushed again meanwhile, that is tried, and this one is replaced by it.
local left, replaced = again(ids, texts)
local buried, names, notes = {}, {}, {}
for k, n in ipairs(left) do
    buried[2 * k - 1], buried[2 * k] = now + k / 1000000, ids[n]
    names[k], notes[k] = ids[n], texts[n]
end
if #left > 0 then
    keep_records(names, notes)
    redis.call('ZADD', dead, unpack(buried))
    count(stats, 'buried', #left)
end
if replaced > 0 then
    count(stats, 'released', replaced)
    count(stats, 'replaced', replaced)
end
return lost
