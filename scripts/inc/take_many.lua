-- @include wake
-- @include record
-- @include adopt
-- @include share

local function is_id(member)
    return #member <= LATER_ID_MAX and find(member, '^[!-~]+$')
end

-- Takes a batch, or the one job that take_one.lua has left, into `reply`.
local function take_many()
    if stopped then
        leave_wake()
        return
    end
    -- The documents of members, false where there is none; and their lengths, where these are
    -- enough.
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

    -- Documents are read in steps. A step reads no more than fits into the budget at the average
    -- size so far, so that few are read in vain. Records are filled in below.
    local orphans, strays, n = {}, {}, 1
    local reply, most, budget = reply, most, budget -- a local is found faster, for each job
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
            if not (document and sane and #member <= LATER_ID_MAX and member ~= '') and
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
        local fits = math.floor((budget - size) * taken / size)
        step = math.max(1, math.min(math.max(32, math.floor(taken / 2)), fits))
    until full
    if taken == 0 then
        leave_wake()
        return
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
    local texts = recorded and records_of(ids_of(1))
    for i = 1, texts and taken or 0 do
        reply[3 * i] = texts[i] ~= '' and texts[i]
    end

    local shared = texts and fair(texts, true)
    redis.call('ZREM', ready, '\n') -- nothing: a full Redis accepts a script that begins with it
    -- From behind: Redis keeps a small set as a list, searches a member's place from the
    -- beginning, and reads every score on the way.
    redis.call('ZRANGESTORE', set, ready, -taken, -1, 'REV')
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
        redis.call('ZADD', set, unpack(places))
        redis.call('ZREM', set, unpack(renamed))
        count(stats, 'adopted', #adopted / 2)
    end
    if #strays > 0 then
        redis.call('HDEL', jobs, unpack(strays))
    end
    if shared then
        shared.leave(ids_of(1), texts, set)
    end
    count(stats, 'reserved', taken)
    local apart = taken > 128 and 64 or 16 -- writing one score costs as much as a command
    local sampled = ids_of(apart)
    if taken % apart ~= 1 then
        sampled[#sampled + 1] = reply[3 * taken - 1]
    end
    reply[1] = reply[1] .. ' ' .. table.concat(redis.call('ZMSCORE', set, unpack(sampled)), ' ')
    leave_wake()
end
