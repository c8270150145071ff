-- ack: jobs are done
-- KEYS   delayed reserved held jobs records unique stats
-- ARGV   (id)...
-- reply  the positions (from 1) of ids that are LOST
--
-- A repetition answers LOST and changes nothing. If the push asked for it, the id stays taken for a
-- while (inc/stay.lua).

-- From its head, by scripts/expand.awk:
if #KEYS ~= 7 then
    return redis.error_reply('ERR usage: ack: KEYS delayed reserved held jobs records unique stats ARGV (id)...')
end
local delayed, reserved, held, jobs, records, unique, stats = unpack(KEYS)

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

-- Drops the documents and records of ids; returns how many documents there were. An id that should
-- stay taken after its job is free at once, unless the caller calls stay_taken() afterwards.
local function forget(ids)
    if recorded then
        redis.call('HDEL', records, unpack(ids))
    end
    return redis.call('HDEL', jobs, unpack(ids))
end
-- The time by Redis's clock, in seconds. It is read only once, since TIME may advance while a
-- script runs.
local clock = redis.call('TIME')
local now = clock[1] + clock[2] / 1000000

-- A push may ask that its id stays taken after its job: tag `u` says for how many seconds, or tag
-- `d` until when. When the job has ended, all that is left of its record is tag `t`, the time until
-- which the id is taken. `unique` has these ids with that time as score, so that they can be freed.

-- Frees the first ids whose time has passed, at most `most`. An id that was pushed again since then
-- has another record, which stays.
local function free_passed(most)
    local over = redis.call('ZRANGEBYSCORE', unique, '-inf', now, 'LIMIT', 0, most)
    if #over == 0 then
        return
    end
    redis.call('ZREM', unique, unpack(over))
    local texts, free = records_of(over), {}
    for i = 1, #over do
        if (number(value_of(texts[i], 't') or '', 0, 1e12) or now + 1) <= now then
            free[#free + 1] = over[i]
        end
    end
    if #free > 0 then
        redis.call('HDEL', records, unpack(free))
    end
end

-- Jobs have ended: those ids that should stay taken do. For each of them up to two whose time has
-- passed are freed, so that `unique` does not grow for long beyond what is needed.
local function stay_taken(ids, texts)
    local kept, ends, rest = {}, {}, {}
    for i = 1, #ids do
        local seconds = number(value_of(texts[i], 'u') or '', 0, 1e9)
        local till = seconds and now + seconds or number(value_of(texts[i], 'd') or '', now, 1e12)
        if till then
            local last = string.format('%.6f', till)
            kept[#kept + 1], rest[#rest + 1] = ids[i], 't=' .. last .. '\n'
            ends[#ends + 1] = last
            ends[#ends + 1] = ids[i]
        end
    end
    if #kept > 0 then
        free_passed(2 * #kept)
        keep_records(kept, rest)
        redis.call('ZADD', unique, unpack(ends))
    end
end
-- A value in a record cannot have line ends, so these and % are escaped.
local function escape(text)
    return (string.gsub(text, '[%%\n]', { ['%'] = '%25', ['\n'] = '%0A' }))
end

local function unescape(text)
    return (string.gsub(text, '%%(%x%x)', { ['25'] = '%', ['0A'] = '\n' }))
end

-- If a push in mode `again` finds its id reserved, it leaves the new job in tag `n` of the record:
-- `DUE RECORD DOCUMENT`, the last two escaped. These jobs have now ended. Where one has an `n`,
-- that job goes into `delayed`, and the migrators are told if it is the first there. Returns the
-- positions of the ids without an `n`, and how many had one.
local function again(ids, texts)
    local left, names, notes, fresh, later = {}, {}, {}, {}, {}
    for i = 1, #ids do
        local due, note, document = string.match(value_of(texts[i], 'n') or '',
            '^(%d+%.%d+) (%S*) (.+)$')
        if due then
            names[#names + 1], notes[#notes + 1] = ids[i], unescape(note)
            fresh[#fresh + 1] = ids[i]
            fresh[#fresh + 1] = unescape(document)
            later[#later + 1] = due
            later[#later + 1] = ids[i]
        else
            left[#left + 1] = i
        end
    end
    if #names > 0 then
        local before = redis.call('ZRANGE', delayed, 0, 0, 'WITHSCORES')
        redis.call('HSET', jobs, unpack(fresh))
        keep_records(names, notes)
        redis.call('ZADD', delayed, unpack(later))
        local first = redis.call('ZRANGE', delayed, 0, 0, 'WITHSCORES')
        if first[2] ~= before[2] then
            redis.call('PUBLISH', string.sub(delayed, 1, -8) .. 'due', first[2])
        end
    end
    return left, #names
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

-- Ends reserved jobs for good and counts them; returns the positions of the LOST. A job without a
-- document counts as withdrawn: somebody had put the id of a reserved job into `ready` by hand, so
-- two tokens had it, and the other one has ended it.
local function settle(list, counter)
    guard(#list, { unique }, { jobs, stats })
    local ids, _, lost = owned(list)
    if #ids > 0 then
        local texts = recorded and records_of(ids)
        if texts then
            redis.call('ZCARD', delayed) -- fails on a wrong type before the first write
        end
        take_out(ids)
        local known = forget(ids)
        if texts then
            stay_taken(ids, texts)
            local _, pushed = again(ids, texts)
            if pushed > 0 then
                count(stats, 'pushed', pushed)
            end
        end
        if known > 0 then
            count(stats, counter, known)
        end
        if known < #ids then
            count(stats, 'withdrawn', #ids - known)
        end
    end
    return lost
end

return settle(ARGV, 'done')
