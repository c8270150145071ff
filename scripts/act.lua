-- act: kick, bury, cancel or move jobs that are still where they were seen
-- KEYS   ready delayed reserved held dead jobs records wake paused stats
-- KEYS   cancelled done kept waiting
-- ARGV   verb state with (id score)...
-- reply  how many there were
--
-- verb   kick: delayed, dead, waiting, done; bury: ready, delayed, waiting; cancel: all states; move: ready,
--        delayed, dead
-- state  the one in which they were seen; for `reserved`, under the token of `held`
-- with   for bury: `"kind":…,"text":…,"host":…}`; for move: the queue into which they go, which is not
--        this one; else ''
-- score  as Redis spelled it then. A job whose score has changed has moved, and is left alone.
--        '' stands for any score
--
-- Kick of a job that is done and kept pushes it again, as new: with its document, priority and group.
-- Left alone are those of flows, those whose id is a job again, and those for which the queue has no
-- room (`max_jobs`).
--
-- Move takes at most 20 jobs a call. It leaves alone what something else in this queue knows: jobs of
-- flows, and those whose id stays taken after them; and what news cannot carry: a NUL byte, a bad id.

-- @include now
-- @include guard
-- @include owned
-- @include forget
-- @include done
-- @include fail
-- @include wake
-- @include adopt
-- @include count
-- @include backwards
-- @include flow
-- @include share
-- @include guard_fair

local sets = { ready = ready, delayed = delayed, reserved = held, dead = dead, done = done,
    waiting = waiting }
local may = {
    kick = { delayed = true, dead = true, waiting = true, done = true },
    bury = { ready = true, delayed = true, waiting = true },
    cancel = { ready = true, delayed = true, dead = true, reserved = true, done = true,
        waiting = true },
    move = { ready = true, delayed = true, dead = true },
}
if not may[verb] or not may[verb][state] then
    return redis.error_reply('ERR act: kick, bury, cancel or move, and a state that it takes')
end
local total, set = (#ARGV - 3) / 2, sets[state]
if verb == 'move' and (total > LATER_MOVE_MAX or #with > 64 or not string.find(with, '^[%w_.-]+$')
    or with == string.match(base, '{([^}/]*)')) then
    return redis.error_reply('ERR act: move takes at most 20 jobs, and the name of another queue')
end
guard(total, { ready, delayed, reserved, held, dead, done, waiting },
    { jobs, records, stats, kept })
if state == 'ready' or verb == 'kick' then
    guard_fair(state == 'done')
end

local asked, ids, taken = {}, {}, {}
for i = 1, total do
    asked[i] = ARGV[2 * i + 2]
end
local scores = total > 0 and redis.call('ZMSCORE', set, unpack(asked)) or {}
for i = 1, total do
    local id, seen = asked[i], ARGV[2 * i + 3]
    if scores[i] and (seen == '' or seen == scores[i]) and not taken[id] then
        ids[#ids + 1], taken[id], scores[id] = id, true, scores[i]
    end
end

-- Of the jobs in `ids` those that may leave the queue, and their documents. Other programs may have
-- given them any id.
local function movable()
    local left, documents = {}, {}
    local texts, found = records_of(ids), redis.call('HMGET', jobs, unpack(ids))
    for i, id in ipairs(ids) do
        local document, ties = found[i] or id, '\n' .. texts[i]
        if (not found[i] or #id <= LATER_ID_MAX and string.find(id, '^[!-~]+$'))
            and not string.find(ties, '\n[fud]=') and not string.find(ties .. document, '%z') then
            left[#left + 1], documents[#documents + 1] = id, document
        end
    end
    return left, documents
end

local documents
if verb == 'move' and #ids > 0 then
    flow_guard()
    ids, documents = movable()
end
if #ids == 0 then
    return 0
end

-- A dead job needs an id, so a member that is its own document gets one. Returns the ids of all,
-- and what to add to `jobs`.
local function named(list)
    local names, fresh = {}, {}
    for i = 1, #list do
        names[i] = list[i]
        if redis.call('HEXISTS', jobs, list[i]) == 0 then
            names[i] = adopt(list[i])
            fresh[#fresh + 1] = names[i]
            fresh[#fresh + 1] = list[i]
        end
    end
    return names, fresh
end

local function kick()
    local texts, soon = records_of(ids), {}
    for i = 1, #ids do
        soon[2 * i - 1], soon[2 * i] = now + i / 1000000 - rank(texts[i]), ids[i]
        for _, tag in ipairs(state == 'dead' and { 'a', 'b', 'c', 'i', 'r' } or {}) do
            texts[i] = with_value(texts[i], tag)
        end
    end
    local shared = fair(texts)
    if shared then
        shared.place(soon, texts)
    end
    if shared or recorded and state == 'dead' then
        keep_records(ids, texts)
    end
    redis.call('ZADD', ready, unpack(backwards(soon)))
    leave_wake()
end

local function bury()
    local names, fresh = named(ids)
    local texts, buried = records_of(names), {}
    for i = 1, #names do
        buried[2 * i - 1], buried[2 * i] = now + i / 1000000, names[i]
        texts[i] = with_error(texts[i], count_of(texts[i], 'a'), with)
    end
    keep_records(names, texts)
    redis.call('ZADD', dead, unpack(backwards(buried)))
    count(stats, 'buried_waiting', #names)
    if #fresh > 0 then
        redis.call('HSET', jobs, unpack(fresh))
        count(stats, 'adopted', #fresh / 2)
    end
end

local function drop()
    local known = forget(ids)
    if known < #ids then
        count(stats, 'adopted', #ids - known)
    end
    if state == 'reserved' then
        count(stats, 'withdrawn', #ids)
        for _, id in ipairs(ids) do
            redis.call('PUBLISH', cancelled, token .. ':' .. id)
        end
    end
end

-- News brings each into the other queue: a ready one is due now, and a dead one is dead there. Its
-- places here, in lines and groups, are nothing there; only its group goes along.
local function move()
    local names = named(ids)
    local texts = records_of(names)
    for i, name in ipairs(names) do
        local group = string.match(value_of(texts[i], 'q') or '', '^%S+ (%S+)$')
        local text = with_value(texts[i], 'q', group and '0 ' .. group)
        for _, tag in ipairs({ 'b', 'l' }) do
            text = with_value(text, tag)
        end
        local due = state == 'ready' and '-' or (state == 'dead' and 'x' or '') .. scores[ids[i]]
        flow_send('put', with, due, name, #text, text .. documents[i])
    end
    drop()
    flow_post()
end

-- Pushes those of the done jobs in `ids` that may run again. Returns them.
local function again()
    local fresh, soon, notes, grouped = {}, {}, {}, false
    local most = tonumber(redis.call('HGET', stats, 'max_jobs') or 0) or 0
    local room = most > 0 and most - redis.call('HLEN', jobs) or #ids
    local there = redis.call('HMGET', jobs, unpack(ids))
    for i, id in ipairs(ids) do
        local record, document = done_of(id)
        if not there[i] and document ~= '' and #fresh < room
            and not string.find('\n' .. record, '\n[fd]=') then
            redis.call('HSET', jobs, id, document) -- refused by a full Redis
            local group = string.match(value_of(record, 'q') or '', '^%S+ (%S+)$')
            local n, off = #fresh + 1, rank(record)
            fresh[n], grouped = id, grouped or group
            notes[n] = (off ~= 0 and 'p=' .. off / 1000000 .. '\n' or '')
                .. (group and 'q=0 ' .. group .. '\n' or '')
            soon[2 * n - 1], soon[2 * n] = now + n / 1000000 - off, id
        end
    end
    if #fresh == 0 then
        return fresh
    end
    local shared = grouped and fair() or fair(notes)
    if shared then
        shared.place(soon, notes)
    end
    keep_records(fresh, notes)
    redis.call('ZADD', ready, unpack(backwards(soon)))
    leave_wake()
    count(stats, 'pushed', #fresh)
    return fresh
end

-- A done job that is kept is outside the sums, so no counter of what becomes of jobs changes.
if state == 'done' then
    ids = verb == 'kick' and again() or ids
    if #ids == 0 then
        return 0
    end
    redis.call('ZREM', done, unpack(ids))
    redis.call('HDEL', kept, unpack(ids))
    return #ids
end

local notes = recorded and records_of(ids)
local members = notes and flow_of(ids, notes)
local acts = { kick = kick, bury = bury, cancel = drop, move = move }
local counters = { kick = 'kicked', bury = 'buried', cancel = 'cancelled', move = 'moved' }
if state == 'reserved' then
    take_out(ids)
else
    redis.call('ZREM', set, unpack(ids))
end
local shared = state == 'ready' and notes and fair(notes, true)
if shared then
    shared.leave(ids, notes)
end
acts[verb]()
count(stats, counters[verb], #ids)
flow_tell(members, ({ kick = 'o', bury = 'x', cancel = 'g' })[verb])
return #ids
