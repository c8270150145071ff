-- reserve: hand out the first ready jobs under a token
-- KEYS   ready delayed reserved held dead jobs records wake paused stats
-- ARGV   token lease limit bytes deadline
-- reply  the present with some scores, then for each job: id, record, document
--
-- token     16 characters [0-9a-z], new for each call; `held` is its set
-- lease     seconds the reservation holds, 0.001 to 10^9
-- limit     at most this many jobs, 1 to 500
-- bytes     at most this many bytes of documents, but at least one job. `N/beside`: the answer has
--           the length of each document in its place, and the caller reads them by HMGET, which
--           costs less for large ones
-- deadline  after this UNIX time nothing is taken and the wake is left to others; 0: none. It is for
--           a reserve that is sent right behind a BLPOP: its client may be gone when it runs
-- scores    after the present, each with a space before it: those that the first job, every 16th
--           after it (every 64th if there are more than 128 jobs) and the last had in ready, so that
--           a caller can tell how long each job has waited
-- record    what is kept beside the job, nil if there is nothing
--
-- A member without an entry in `jobs` is its own document, and is adopted. A member with an id that
-- no push accepts is adopted too: its document gets another id. In `held` each job has the score
-- that it had in ready.

-- @include now
-- @include record
-- @include guard
-- @include wake
-- @include adopt
-- @include count

local beside = string.match(bytes, '^(%d+)/beside$')
local most, budget = whole(limit, 1, 500), whole(beside or bytes, 0, 1e9)
local seconds, last = number(lease, 0.001, 1e9), number(deadline, 0, 1e11)
if #token ~= 16 or not string.find(token, '^[0-9a-z]+$') or not seconds then
    return redis.error_reply('ERR reserve: a token is 16 of [0-9a-z], a lease is seconds')
end
if not most or not budget or not last then
    return redis.error_reply('ERR reserve: limit 1 to 500, bytes and deadline from 0')
end
local others = redis.call('EXISTS', held, paused, delayed, dead) > 0 -- one look for what may be
local there = others and redis.call('EXISTS', held, paused) or 0
if held ~= reserved .. ':' .. token or there > 0 and redis.call('EXISTS', held) == 1 then
    return redis.error_reply('ERR reserve: held is the set of a token that was not used before')
end
guard(most, { reserved }, { stats }) -- `ready` and `jobs` are read before anything is written

local reply = { clock[1] .. '.' .. string.sub('00000' .. clock[2], -6) }
if there > 0 or (last > 0 and now > last) then
    leave_wake()
    return reply
end

local find = string.find
local function is_id(member)
    return #member <= 200 and find(member, '^[!-~]+$')
end

-- After most wakes there is one job and no other. It is taken here by fewer commands than a batch
-- needs. Returns nil for anything unusual, which is left to the code below.
local function only()
    local two = redis.call('ZRANGE', ready, 0, 1, 'WITHSCORES')
    local id, score = two[1], two[2]
    local document = #two == 2 and is_id(id) and redis.call('HGET', jobs, id)
    if not document then
        return nil
    end
    local record = recorded and redis.call('HGET', records, id)
    redis.call('ZREM', ready, id)
    redis.call('ZADD', held, score, id)
    redis.call('ZADD', reserved, string.format('%.6f', now + seconds), token)
    if others then
        redis.pcall('ZREM', delayed, id)
        redis.pcall('ZREM', dead, id)
    end
    redis.call('DEL', wake)
    count(stats, 'reserved', 1)
    reply[1] = reply[1] .. ' ' .. score
    reply[2], reply[3], reply[4] = id, record, document
    return reply
end
local one = last > 0 and only()
if one then
    return one
end

-- The documents of members, false where there is none; and their lengths, where these are enough.
local function look_up(members)
    if not beside then
        return redis.call('HMGET', jobs, unpack(members))
    end
    local known, lengths = {}, {}
    for i, member in ipairs(members) do
        local length = redis.call('HSTRLEN', jobs, member)
        lengths[i] = length > 0 and is_id(member) and length
        known[i] = lengths[i] or redis.call('HGET', jobs, member)
    end
    return known, lengths
end

-- Documents are read in steps. A step reads no more than fits into the budget at the average size
-- so far, so that few are read in vain. Records are filled in below.
local orphans, strays, n = {}, {}, 1
local taken, size, step, full = 0, 0, 2, false
repeat
    step = math.min(step, most - taken)
    local members = redis.call('ZRANGE', ready, taken, taken + step - 1)
    local got = #members
    local known, lengths
    if got > 0 then
        known, lengths = look_up(members)
    end
    local all = table.concat(members) -- one match for all, first with the class that costs less
    local sane = find(all, '^%w*$') or find(all, '^[!-~]*$')
    for i = 1, got do
        local member, document = members[i], known[i]
        local length = lengths and lengths[i] or #(document or member)
        if size + length > budget and taken > 0 then
            full = true
            break
        end
        taken, size = taken + 1, size + length
        if not (document and sane and #member <= 200 and member ~= '') and
            not (document and is_id(member)) then
            orphans[#orphans + 1] = taken
            if known[i] then
                strays[#strays + 1] = member
            end
        end
        reply[n + 1], reply[n + 2], reply[n + 3] = member, false, document or member
        n = n + 3
    end
    full = full or got < step or taken == most
    -- No more than half of what was taken, so that one misleading average reads little in vain.
    step = math.min(math.max(32, math.floor(taken / 2)), math.floor((budget - size) * taken / size))
    step = math.max(1, step)
until full
if taken == 0 then
    leave_wake()
    return reply
end

local adopted, renamed, places = {}, {}, {}
for _, i in ipairs(orphans) do
    local member, document = reply[3 * i - 1], reply[3 * i + 1]
    local id = adopt(document)
    renamed[#renamed + 1] = member
    places[#places + 1] = redis.call('ZSCORE', ready, member)
    places[#places + 1] = id
    adopted[#adopted + 1] = id
    adopted[#adopted + 1] = document
    reply[3 * i - 1], reply[3 * i + 1] = id, beside and #document or document
end

-- The ids of each `apart`th job.
local function ids_of(apart)
    local ids = {}
    for i = 1, taken, apart do
        ids[#ids + 1] = reply[3 * i - 1]
    end
    return ids
end
if recorded then
    local texts = records_of(ids_of(1))
    for i = 1, taken do
        reply[3 * i] = texts[i] ~= '' and texts[i]
    end
end

redis.call('ZREM', ready, '\n') -- nothing: a full Redis accepts a script that begins with it
-- From behind: Redis keeps a small set as a list, searches a member's place from the beginning, and
-- reads every score on the way.
redis.call('ZRANGESTORE', held, ready, -taken, -1, 'REV')
redis.call('ZREMRANGEBYRANK', ready, 0, taken - 1)
redis.call('ZADD', reserved, string.format('%.6f', now + seconds), token)
-- A plain ZADD may name a job that is delayed or dead: now it is reserved, and nothing else.
if others then
    local ids = ids_of(1)
    redis.pcall('ZREM', delayed, unpack(ids))
    redis.pcall('ZREM', dead, unpack(ids))
end
if #adopted > 0 then
    redis.call('HSET', jobs, unpack(adopted))
    redis.call('ZADD', held, unpack(places))
    redis.call('ZREM', held, unpack(renamed))
    count(stats, 'adopted', #adopted / 2)
end
if #strays > 0 then
    redis.call('HDEL', jobs, unpack(strays))
end
count(stats, 'reserved', taken)
local apart = taken > 128 and 64 or 16 -- writing one score costs as much as a command
local sampled = ids_of(apart)
if taken % apart ~= 1 then
    sampled[#sampled + 1] = reply[3 * taken - 1]
end
reply[1] = reply[1] .. ' ' .. table.concat(redis.call('ZMSCORE', held, unpack(sampled)), ' ')
leave_wake()
return reply
