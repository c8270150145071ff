-- bury: reserved jobs become dead, with the reason
-- KEYS   reserved held dead jobs records stats
-- ARGV   (id how error)...
-- reply  the positions (from 1) of ids that are LOST
--
-- how    ran: after an attempt; crashed: after one that killed its worker; unrun: without one
-- error  `"kind":…,"text":…,"host":…}`, or '' to keep the one before

-- @include now
-- @include guard
-- @include give_up
-- @include fail
-- @include count

local list = {}
for i = 1, #ARGV / 3 do
    local how = ARGV[3 * i - 1]
    list[i] = ARGV[3 * i - 2]
    if how ~= 'ran' and how ~= 'crashed' and how ~= 'unrun' then
        return redis.error_reply('ERR bury: how is ran, crashed or unrun')
    end
end
guard(#list, { dead }, { jobs, stats })

local ids, at, lost = give_up(list)
if #ids == 0 then
    return lost
end
local buried, texts = {}, records_of(ids)
for n = 1, #ids do
    local how, why = ARGV[3 * at[n] - 1], ARGV[3 * at[n]]
    buried[2 * n - 1], buried[2 * n] = now + n / 1000000, ids[n]
    if how == 'unrun' then
        texts[n] = with_error(texts[n], count_of(texts[n], 'a'), why)
    else
        texts[n] = failed(texts[n], why)
    end
    if how == 'crashed' then
        texts[n] = crashed(texts[n])
    end
end
keep_records(ids, texts)
redis.call('ZADD', dead, unpack(buried))
count(stats, 'buried', #ids)
return lost
