-- release: an attempt failed; the job runs again later
-- KEYS   reserved held ready delayed jobs records wake paused stats
-- ARGV   (id wait how error)...
-- reply  the positions (from 1) of ids that are LOST
--
-- wait   seconds until it is due; 0: ready at once
-- how    ran: an attempt; crashed: an attempt that killed its worker
-- error  `"kind":…,"text":…,"host":…}`, or '' to keep the last error
--
-- A suspect that has run to its end is no longer a suspect.

-- From its head, by scripts/expand.awk:
if #KEYS ~= 9 or #ARGV % 4 ~= 0 then
    return redis.error_reply('ERR usage: release: KEYS reserved held ready delayed jobs records wake paused stats ARGV (id wait how error)...')
end
local reserved, held, ready, delayed, jobs, records, wake, paused, stats = unpack(KEYS)

-- The time by Redis's clock, in seconds. It is read only once, since TIME may advance while a
-- script runs.
local clock = redis.call('TIME')
local now = clock[1] + clock[2] / 1000000
-- Scripts do not roll back, so this is checked before the first write: at most 500 jobs a call
-- (unpack takes 7,999 values), and keys of the right type. ZCARD and HLEN fail on any other type.
local function guard(count, sets, hashes)
    if count > 500 then
        error({ err = 'ERR at most 500 jobs a call' })
    end
    for i = 1, #sets do
        redis.call('ZCARD', sets[i])
    end
    for i = 1, #hashes do
        redis.call('HLEN', hashes[i])
    end
end
-- `held` is the set of jobs that the token in its name holds, each with the score it had in ready.
-- Whoever shows the token owns the jobs in the set; nothing else is compared.
local token = string.sub(held, #reserved + 2)

-- Splits a list of ids. Returns those that are held, each once; their positions in the list; and
-- the positions of the LOST. Jobs are mostly settled in the order in which they were handed out,
-- which is their order in `held`. Then one ZRANGE is enough, Redis need not write out scores, and
-- instead of the positions nil is returned.
-- A caller that has read all of `held` puts it into `in_order`; it is not compared again.
local in_order
local function owned(list)
    if list == in_order then
        return list, nil, {}
    end
    local total = #list
    if total == 0 then
        error({ err = 'ERR at least one job a call' })
    end
    redis.call('ZCARD', reserved)
    local row, same = redis.call('ZRANGE', held, 0, total - 1), total
    for i = 1, total do
        if row[i] ~= list[i] then
            same = i - 1
            break
        end
    end
    if same == total then
        in_order = list
        return list, nil, {}
    end
    local ids, at, lost, n, rest, seen = {}, {}, {}, same, same, {}
    for i = 1, same do
        ids[i], at[i], seen[list[i]] = list[i], i, true
    end
    local scores = redis.call('ZMSCORE', held, unpack(list, rest + 1))
    for i = rest + 1, #list do
        local id = list[i]
        if not scores[i - rest] then
            lost[#lost + 1] = i
        elseif not seen[id] then
            n, seen[id] = n + 1, true
            ids[n], at[n] = id, i
        end
    end
    return ids, at, lost
end

-- Takes ids out of the set; the lease ends with the last of them. Mostly all of them go at once,
-- and to drop the whole set costs half as much as to remove its members.
local function take_out(ids)
    if #ids == redis.call('ZCARD', held) then
        redis.call('DEL', held)
        redis.call('ZREM', reserved, token)
    elseif ids == in_order then
        redis.call('ZREMRANGEBYRANK', held, 0, #ids - 1)
    else
        redis.call('ZREM', held, unpack(ids))
    end
end
-- Adds to a number in a hash and returns the sum. If another program has put something there that
-- is not a number, the count starts again from 0: an error would stop the script half-way.
local function count(hash, field, by)
    local sum = redis.pcall('HINCRBY', hash, field, by)
    if type(sum) == 'table' then
        if string.find(sum.err, 'OOM', 1, true) then
            error(sum) -- the first write of this call, on a full Redis: nothing was changed
        end
        redis.call('HDEL', hash, field)
        sum = redis.call('HINCRBY', hash, field, by)
    end
    return sum
end

-- Takes jobs from their token. Returns the ids of those that still exist, their positions, and the
-- positions of the LOST. A job whose document is gone is LOST too. Somebody had put the id of a
-- reserved job into `ready` by hand, so two tokens had it, and the other one has ended it.
local function give_up(list)
    local ids, at, lost = owned(list)
    if #ids == 0 then
        return ids, {}, lost
    end
    take_out(ids)
    local left, places = {}, {}
    for i = 1, #ids do
        local place = at and at[i] or i
        if redis.call('HEXISTS', jobs, ids[i]) == 1 then
            left[#left + 1], places[#places + 1] = ids[i], place
        else
            lost[#lost + 1] = place
        end
    end
    if #left < #ids then
        count(stats, 'withdrawn', #ids - #left)
        table.sort(lost)
    end
    return left, places, lost
end
-- Returns the number that a text spells in plain decimals if it is between `least` and `most`, else
-- nil. Lua's own tonumber would also take nan, inf, 0x10 and 1e9.
local function number(text, least, most)
    local n = string.find(text, '^%-?%d+%.?%d*$') and tonumber(text)
    return n and n >= least and n <= most and n or nil
end

local function whole(text, least, most)
    return not string.find(text, '.', 1, true) and number(text, least, most) or nil
end

-- Texts that consist of lines `TAG=VALUE`: records, definitions and states of schedules.

local function value_of(record, tag)
    return record ~= '' and string.match('\n' .. record, '\n' .. tag .. '=([^\n]*)') or nil
end

-- Reads a count; 0 if there is none. If another program has put something there that is not a
-- number, it counts as 0: an error would stop the script half-way.
local function count_of(record, tag)
    return whole(value_of(record, tag) or '', 0, 1000000000) or 0
end

-- Returns the record with a new value for the tag, or without the tag if the value is nil.
local function with_value(record, tag, value)
    local rest = string.sub(string.gsub('\n' .. record, '\n' .. tag .. '=[^\n]*', ''), 2)
    if rest ~= '' and string.byte(rest, -1) ~= 10 then
        rest = rest .. '\n'
    end
    return value and rest .. tag .. '=' .. value .. '\n' or rest
end

-- A record is what laterd keeps beside a document: lines `TAG=VALUE`, where a value is anything
-- without a line end (doc/protocol.md, "Records"). A script that changes a tag leaves all others as
-- they are, even those that it does not know. Most queues have no records, so one HLEN saves the
-- look-ups.
local recorded = redis.call('HLEN', records) > 0

-- Returns the records of ids, '' for an id without one.
local function records_of(ids)
    local found = recorded and redis.call('HMGET', records, unpack(ids)) or {}
    for i = 1, #ids do
        found[i] = found[i] or ''
    end
    return found
end

-- Writes the records of ids; '' removes one.
local function keep_records(ids, texts)
    local some, none = {}, {}
    for i = 1, #ids do
        if texts[i] == '' then
            none[#none + 1] = ids[i]
        else
            some[#some + 1] = ids[i]
            some[#some + 1] = texts[i]
        end
    end
    if #none > 0 and recorded then
        redis.call('HDEL', records, unpack(none))
    end
    if #some > 0 then
        redis.call('HSET', records, unpack(some))
        recorded = true
    end
end

-- Returns what the priority in a record takes off a score.
local function rank(record)
    return record ~= '' and (whole(value_of(record, 'p') or '', -100, 100) or 0) * 1000000 or 0
end

-- Tag `h` has the errors before the last one, newest first: a JSON array of at most 1,000 bytes,
-- from which the oldest are dropped. Each entry keeps the first line of its text, at most 120
-- bytes. An entry without `kind` failed like the next newer one. `return` and `unknown` are not
-- kept, since they may come again and again. The helpers are inside, so that most calls, which have
-- nothing to keep, do not make them.
local function with_earlier(record, tail)
    local head, old = string.match(value_of(record, 'e') or '',
        '^({"at":[%d.]+,"attempt":%d+),(.*)}$')
    local kind = head and string.match(old, '^"kind":"(%a+)"') or 'retry'
    if not head or kind == 'return' or kind == 'unknown' then
        return record
    end

    -- Splits off the end, which says how long the attempt took.
    local function parts_of(tail)
        local ms = string.match(tail, ',"ms":[%d.]+$') or ''
        return string.sub(tail, 1, -1 - #ms), ms
    end

    -- Never cuts within a JSON escape or a UTF-8 character.
    local function first_line(text)
        local at = 1
        while at <= #text do
            local byte, step = string.byte(text, at), 1
            if byte == 92 then
                step = string.find(text, '^u[dD][89abAB]', at + 1) and 12
                    or string.byte(text, at + 1) == 117 and 6 or 2
            elseif byte >= 192 then
                step = byte >= 240 and 4 or byte >= 224 and 3 or 2
            end
            if at + step > 121 or byte == 34 or string.find(text, '^\\n', at)
                or string.find(text, '^\\u000[aA]', at) then
                break
            end
            at = at + step
        end
        return string.sub(text, 1, at - 1)
    end

    local function brief(why)
        local text, host = string.match(why, '^"kind":"%a+","text":"(.*)","host":"([^"\\]*)"$')
        return string.format('"kind":"%s","text":"%s","host":"%s"', string.sub(kind, 1, 16),
            first_line(text or ''), text and #host <= 100 and host or '')
    end

    local why, ms = parts_of(old)
    local same = parts_of(string.sub(tail, 1, -2)) == why
    local list = head .. (same and '' or ',' .. brief(why)) .. ms .. '}'
    local before = string.match(value_of(record, 'h') or '', '^%[(.*)%]$')
    list = before and list .. ',' .. before or list
    while #list > 998 do
        list = string.match(list, '^(.*}),{"at":') or ''
    end
    return with_value(record, 'h', '[' .. list .. ']')
end

-- Returns the record with the reason why an attempt failed. `tail` is `"kind":…,"text":…,"host":…}`
-- from the caller, or '' to keep the reason that is there. It is not parsed. JSON may have line
-- ends between two members; they become spaces.
local function with_error(record, attempt, tail)
    if tail == '' then
        return record
    end
    local head = string.format('{"at":%.6f,"attempt":%d,', now, attempt)
    tail = string.gsub(tail, '\n', ' ')
    return with_value(with_earlier(record, tail), 'e', head .. tail)
end

-- Returns the record with one more attempt, and the reason why it failed.
local function failed(record, tail)
    local attempt = count_of(record, 'a') + 1
    record = with_value(with_value(record, 'i'), 'a', attempt)
    return with_error(record, attempt, tail)
end

local function crashed(record)
    return with_value(record, 'c', count_of(record, 'c') + 1)
end
-- Turns the order of the jobs round. Redis keeps a set of up to 128 members as a list. To insert a
-- member it reads the scores from the beginning, so it is cheaper to insert the last job first.
local function backwards(list)
    for i = 1, #list / 2 - 1, 2 do
        local k = #list - i
        list[i], list[i + 1], list[k], list[k + 1] = list[k], list[k + 1], list[i], list[i + 1]
    end
    return list
end
-- Leaves one element in `wake` if a worker would find work, else none. DEL comes first, so that
-- there are never two, and so that a full Redis accepts the script. If `filled`, the caller has
-- just put jobs into `ready`; then DEL is needed only if there is an element already.
local function leave_wake(filled)
    local work = (filled or redis.call('ZCARD', ready) > 0) and redis.call('EXISTS', paused) == 0
    if not filled or redis.call('EXISTS', wake) == 1 then
        redis.call('DEL', wake)
    end
    if work then
        redis.call('LPUSH', wake, 1)
    end
end

-- This is a channel, not a key.
local due = string.sub(delayed, 1, -8) .. 'due'

-- Puts jobs (score, id, score, id …) into `ready` and `delayed`. If another job is now the first to
-- become due, the migrators are told.
local function place(soon, later)
    if #soon > 0 then
        redis.call('ZADD', ready, unpack(backwards(soon)))
    end
    if #later > 0 then
        local before = redis.call('ZRANGE', delayed, 0, 0, 'WITHSCORES')
        redis.call('ZADD', delayed, unpack(backwards(later)))
        local first = redis.call('ZRANGE', delayed, 0, 0, 'WITHSCORES')
        if first[2] ~= before[2] then
            redis.call('PUBLISH', due, first[2])
        end
    end
    leave_wake(#soon > 0)
end

local list, waits = {}, {}
for i = 1, #ARGV / 4 do
    local how = ARGV[4 * i - 1]
    list[i] = ARGV[4 * i - 3]
    waits[i] = number(ARGV[4 * i - 2], 0, 1e11)
    if not waits[i] or (how ~= 'ran' and how ~= 'crashed') then
        return redis.error_reply('ERR release: a wait is seconds, how is ran or crashed')
    end
end
guard(#list, { ready, delayed }, { jobs, stats })

local ids, at, lost = give_up(list)
if #ids == 0 then
    return lost
end
local soon, later, texts = {}, {}, records_of(ids)
for n = 1, #ids do
    local i, id = at[n], ids[n]
    if waits[i] > 0 then
        later[#later + 1] = now + waits[i]
        later[#later + 1] = id
    else
        soon[#soon + 1] = now + n / 1000000 - rank(texts[n])
        soon[#soon + 1] = id
    end
    texts[n] = failed(texts[n], ARGV[4 * i])
    if ARGV[4 * i - 1] == 'crashed' then
        texts[n] = crashed(texts[n])
    elseif value_of(texts[n], 'c') == '0' then
        texts[n] = with_value(texts[n], 'c')
    end
end
keep_records(ids, texts)
place(soon, later)
count(stats, 'released', #ids)
return lost
