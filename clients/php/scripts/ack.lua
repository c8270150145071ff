-- ack: jobs are done
-- KEYS   delayed reserved held jobs records unique stats
-- ARGV   (id)...
-- reply  the positions (from 1) of ids that are LOST
--
-- A repeat answers LOST and changes nothing. An id that was pushed so stays taken for its time.

-- From its head, by scripts/expand.awk:
if #KEYS ~= 7 then
    return redis.error_reply('ERR usage: ack: KEYS delayed reserved held jobs records unique stats ARGV (id)...')
end
local delayed, reserved, held, jobs, records, unique, stats = unpack(KEYS)

-- What must hold before the first write, since scripts do not roll back: at most 500 jobs a call
-- (unpack takes 7,999 values), and keys of the right type: counting another one's members fails.
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
-- `held` is what the token in its name holds: ids, each with the score it had in ready. Who shows
-- the token owns those that are in it, and nothing else is compared.
local token = string.sub(held, #reserved + 2)

-- Splits ids into those that are held and the positions of those that are not: ids, each once, and
-- their positions (nil: each its own); the positions of the LOST. Jobs are mostly settled in the
-- order in which they were handed out, which is theirs in `held`: then one look is enough, and no
-- score is spelled.
local in_order
local function owned(list)
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

-- Takes ids out; the lease ends with the last of them. Mostly all go at once: the whole set is
-- dropped for half of what each of its members would cost.
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
-- The number that a text spells in plain decimals, if it lies between `least` and `most`; else nil.
-- Lua's own tonumber takes nan, inf, 0x10 and 1e9 as well.
local function number(text, least, most)
    local n = string.find(text, '^%-?%d+%.?%d*$') and tonumber(text)
    return n and n >= least and n <= most and n or nil
end

local function whole(text, least, most)
    return not string.find(text, '.', 1, true) and number(text, least, most) or nil
end

-- Texts of lines `TAG=VALUE`: records, and what is kept of schedules.

local function value_of(record, tag)
    return record ~= '' and string.match('\n' .. record, '\n' .. tag .. '=([^\n]*)') or nil
end

-- A count, 0 where there is none. What is no number, put by a foreign hand, must not stop a script
-- half-way: it begins anew.
local function count_of(record, tag)
    return whole(value_of(record, tag) or '', 0, 1000000000) or 0
end

-- The record with another value; nil: without the tag.
local function with_value(record, tag, value)
    local rest = string.sub(string.gsub('\n' .. record, '\n' .. tag .. '=[^\n]*', ''), 2)
    if rest ~= '' and string.byte(rest, -1) ~= 10 then
        rest = rest .. '\n'
    end
    return value and rest .. tag .. '=' .. value .. '\n' or rest
end

-- What laterd keeps beside a document is its record: lines `TAG=VALUE`, a value being anything
-- without a line end (doc/protocol.md, "Records"). Whoever changes a tag leaves all others as they
-- are, also those that it does not know. Most queues have no records: one look for all.
local recorded = redis.call('HLEN', records) > 0

-- The records of ids, '' where there is none.
local function records_of(ids)
    local found = recorded and redis.call('HMGET', records, unpack(ids)) or {}
    for i = 1, #ids do
        found[i] = found[i] or ''
    end
    return found
end

-- Writes the records of ids.
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

-- What the priority in a record takes off a score.
local function rank(record)
    return record ~= '' and (whole(value_of(record, 'p') or '', -100, 100) or 0) * 1000000 or 0
end

-- Drops the documents and records of ids; returns how many documents there were. An id that asked
-- to stay taken after its job is free at once: somebody took it out of the queue.
local function forget(ids)
    if recorded then
        redis.call('HDEL', records, unpack(ids))
    end
    return redis.call('HDEL', jobs, unpack(ids))
end
-- The present by Redis's clock, in seconds; read once, since TIME goes on inside a script.
local clock = redis.call('TIME')
local now = clock[1] + clock[2] / 1000000

-- An id may ask to stay taken after its job: tag `u`, seconds; or tag `d`, until when. When the job
-- has ended, all that is left of its record is tag `t`, the time until which it is taken; `unique`
-- has these ids by that time, so that they can be freed.

-- Frees the first ids whose time has passed, at most so many. One that was pushed again since then
-- has another record.
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

-- Jobs have ended: their ids, if they asked, stay taken. Twice as many others whose time has
-- passed go, so that `unique` does not grow for long beyond what is needed.
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
-- A text without line ends and %, as a value of a record may be; and that text again.
local function escape(text)
    return (string.gsub(text, '[%%\n]', { ['%'] = '%25', ['\n'] = '%0A' }))
end

local function unescape(text)
    return (string.gsub(text, '%%(%x%x)', { ['25'] = '%', ['0A'] = '\n' }))
end

-- A push in the mode `again` has found the id reserved: tag `n` of its record is what is to run
-- after it, `DUE RECORD DOCUMENT`, the last two escaped. Now that the job has ended, those are put
-- into `delayed`; a migrator hears of it. Returns the positions of the others, and how many these
-- were.
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
-- Adds to a number in a hash and returns the sum. What is no number there, put by a foreign hand,
-- must not stop a script half-way: it begins anew.
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

-- Ends reserved jobs for good and counts them; returns the positions of the LOST. Only what had a
-- document still is counted: where somebody put the id of a reserved job into `ready` by hand, two
-- tokens had it, and the other has ended it.
local function settle(list, counter)
    guard(#list, { unique }, { jobs, stats })
    local ids, _, lost = owned(list)
    if #ids > 0 then
        local texts = recorded and records_of(ids)
        if texts then
            redis.call('ZCARD', delayed) -- else of a wrong type found too late
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
