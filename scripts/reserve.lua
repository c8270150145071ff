-- reserve: hand out the first ready jobs under a token
-- KEYS   ready delayed reserved dead jobs records wake paused stats
-- ARGV   token lease limit bytes deadline
-- reply  the present, then for each job: id, the score it had, record, document
--
-- token     16 characters [0-9a-z], new for each call
-- lease     seconds the reservation holds, 0.001 to 10^9
-- limit     at most so many jobs, 1 to 500
-- bytes     at most so many bytes of documents, but at least one job
-- deadline  after this UNIX time nothing is taken and the wake is left to others; 0: none.
--           For a reserve written behind a BLPOP, whose client may be gone when it runs.
-- record    what is kept beside the job, '' where there is nothing
--
-- A member without an entry in `jobs` is its own document, and is adopted. So is one whose id no push
-- would have taken: its document gets another id.

-- @include now
-- @include record
-- @include guard
-- @include wake
-- @include adopt
-- @include count

local most, budget = whole(limit, 1, 500), whole(bytes, 0, 1e9)
local seconds, last = number(lease, 0.001, 1e9), number(deadline, 0, 1e11)
if #token ~= 16 or not string.find(token, '^[0-9a-z]+$') or not seconds then
    return redis.error_reply('ERR reserve: a token is 16 of [0-9a-z], a lease is seconds')
end
if not most or not budget or not last then
    return redis.error_reply('ERR reserve: limit 1 to 500, bytes and deadline from 0')
end
-- `ready` and `jobs` are read before the first write; `stats` is written only for what is adopted.
guard(most, { reserved }, {})

local reply = { string.format('%.6f', now) }
if redis.call('EXISTS', paused) == 1 or (last > 0 and now > last) then
    leave_wake()
    return reply
end

-- In small steps: no more than the budget holds at the average size so far, and few in any case,
-- so that little is read in vain. Records are filled in behind, where there are any.
local ids, orphans, strays, n = {}, {}, {}, 1
local taken, size, step, full = 0, 0, 2, false
repeat
    step = math.min(step, most - taken)
    local found = redis.call('ZRANGE', ready, taken, taken + step - 1, 'WITHSCORES')
    local members, got = {}, 0
    for i = 1, #found, 2 do
        got = got + 1
        members[got] = found[i]
    end
    local known = got > 0 and redis.call('HMGET', jobs, unpack(members))
    for i = 1, got do
        local member, document = members[i], known[i] or members[i]
        if taken > 0 and size + #document > budget then
            full = true
            break
        end
        taken, size = taken + 1, size + #document
        if not known[i] then
            orphans[#orphans + 1] = taken
        elseif #member > 200 or not string.find(member, '^[!-~]+$') then
            orphans[#orphans + 1] = taken
            strays[#strays + 1] = member
        end
        ids[taken] = member
        reply[n + 1], reply[n + 2] = member, found[2 * i]
        reply[n + 3], reply[n + 4] = '', document
        n = n + 4
    end
    full = full or got < step or taken == most
    step = math.max(1, math.min(32, math.floor((budget - size) * taken / size)))
until full
if taken == 0 then
    leave_wake()
    return reply
end

local adopted = {}
if #orphans > 0 then
    guard(0, {}, { stats })
end
for _, i in ipairs(orphans) do
    ids[i] = adopt(reply[4 * i + 1])
    adopted[#adopted + 1] = ids[i]
    adopted[#adopted + 1] = reply[4 * i + 1]
    reply[4 * i - 2] = ids[i]
end

if recorded then
    local texts = records_of(ids)
    for i = 1, taken do
        reply[4 * i] = texts[i]
    end
end

local held, expiry, prefix = {}, string.format('%.6f', now + seconds), token .. ':'
for i = 1, taken do
    held[2 * i - 1], held[2 * i] = expiry, prefix .. ids[i]
end

redis.call('ZREMRANGEBYRANK', ready, 0, taken - 1)
redis.call('ZADD', reserved, unpack(held))
-- A plain ZADD may name a job that is delayed or dead: now it is reserved, and nothing else.
if redis.call('EXISTS', delayed, dead) > 0 then
    redis.pcall('ZREM', delayed, unpack(ids))
    redis.pcall('ZREM', dead, unpack(ids))
end
if #adopted > 0 then
    redis.call('HSET', jobs, unpack(adopted))
    count(stats, 'adopted', #adopted / 2)
end
if #strays > 0 then
    redis.call('HDEL', jobs, unpack(strays))
end
leave_wake()
return reply
