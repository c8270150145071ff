-- bury: reserved jobs become dead, with the reason
-- KEYS   reserved dead jobs attempts crashes interrupts errors stats
-- ARGV   (member how error)...
-- reply  the positions (from 1) of members that are LOST
--
-- how    ran: after an attempt; crashed: after one that killed its worker; unrun: without one
-- error  `"kind":…,"text":…,"host":…}`, or '' to keep the one before

-- @include now
-- @include guard
-- @include give_up
-- @include fail

local members = {}
for i = 1, #ARGV / 3 do
    local how = ARGV[3 * i - 1]
    members[i] = ARGV[3 * i - 2]
    if how ~= 'ran' and how ~= 'crashed' and how ~= 'unrun' then
        return redis.error_reply('ERR bury: how is ran, crashed or unrun')
    end
end
guard(#members, { dead }, { jobs, attempts, crashes, interrupts, errors, stats })

local ids, at, lost = give_up(members)
if #ids == 0 then
    return lost
end
local buried = {}
for n = 1, #ids do
    local id, how = ids[n], ARGV[3 * at[n] - 1]
    buried[2 * n - 1], buried[2 * n] = now + n / 1000000, id
    local attempt
    if how == 'unrun' then
        attempt = tonumber(redis.call('HGET', attempts, id) or 0) or 0
    else
        attempt = count_attempt(id)
    end
    if how == 'crashed' then
        count(crashes, id, 1)
    end
    note_error(id, attempt, ARGV[3 * at[n]])
end
redis.call('ZADD', dead, unpack(buried))
count(stats, 'buried', #ids)
return lost
