-- push: put jobs into ready, or into delayed until they are due
-- KEYS   ready delayed dead jobs records wake paused stats shards call
-- ARGV   remember mode (id when priority document)...
-- reply  one answer a job: PUSHED, REPLACED, AGAIN, ABSENT, FULL, or `EXISTS state`
--
-- remember  seconds to keep the answers under the key `call`, up to a day; 0: the call has no id
-- mode      new: a known id changes nothing. replace: a ready or delayed job is replaced. again: as
--           replace; but if the id is reserved, the new job is kept beside it and pushed when that
--           one ends, which answers AGAIN; a later one takes its place; but not while the reserved
--           one takes the id by `N/+S`. seek, seek-replace, seek-again: as new, replace, again for
--           known ids; an unknown id is not pushed and answers ABSENT. If an id is in one call
--           several times, new pushes the first of them; with replace and again the last one stays.
--           `/EPOCH` after a mode is of the plan of shards that the caller knows (inc/fence.lua)
-- when      '': now; '+S': in S seconds; 'S': at that UNIX time, 0 or from 10^9 on; '+S/M': in S
--           seconds, but at most M after the first of the pushes that replaced each other (tag b).
--           When M is over, it is ready, and its turn is by that time. `!E` after any of these: it
--           expires in E seconds. Its document, an object without that member, gets expires_at
-- priority  -100 to 100, higher first. `N/S`: the id also stays taken for S seconds after its job
--           was acked or has expired, and answers `EXISTS ended`. `N/+S`: it stays taken until S
--           seconds from now, if the job has ended by then. `@GROUP` after any of these: its group,
--           1 to 64 printable characters without space and braces (inc/share.lua)
--
-- FULL: the queue has as many jobs as the field `max_jobs` of `stats` allows (0 or missing: any
-- number). The job was not pushed, and counts as `refused`.
--
-- A job that is pushed drops the result of an earlier one of its id (inc/results.lua).
--
-- Only push, push_now and the scripts of schedules begin with a write that a full Redis refuses, so
-- that whoever pushes is told.

-- @include now
-- @include score
-- @include guard
-- @include record
-- @include place
-- @include where
-- @include count
-- @include fence
-- @include escape
-- @include expiring
-- @include results

local how, epoch = string.match(mode, '^([a-z-]+)/(%d+)$')
if not how then
    how, epoch = mode, ''
end
local seeks = string.sub(how, 1, 4) == 'seek'
local agains = how == 'again' or how == 'seek-again'
local replaces = agains or how == 'replace' or how == 'seek-replace'
if not whole(remember, 0, 86400) or not (how == 'new' or how == 'seek' or replaces) then
    return redis.error_reply('ERR push: remember is 0 to 86400, mode is new, replace, again, seek, '
        .. 'seek-replace or seek-again')
end
if remember ~= '0' then
    local told = redis.call('EXISTS', call) == 1 and redis.call('GET', call)
    if told then
        local answers = {}
        for answer in string.gmatch(told, '[^\n]+') do
            answers[#answers + 1] = answer
        end
        return answers
    end
end

local ids, documents = {}, {}
local times, ranks, stays, waits, from_now = {}, {}, {}, {}, {}
local groups -- nil: none of these jobs has one

-- Reads job i's priority, if it is not 0; returns what is wrong with it.
local function read_rank(i, text)
    local before, group = string.match(text, '^([^@]*)@(.*)$')
    if group then
        if #group > LATER_GROUP_MAX or not string.find(group, '^[!-z|~]+$') then
            return 'a group is 1 to LATER_GROUP_MAX printable characters without space and braces'
        end
        groups = groups or {}
        text, groups[i] = before, group
    end
    ranks[i] = whole(text, -100, 100)
    if not ranks[i] then
        local rank, plus, seconds = string.match(text, '^([^/]*)/(%+?)(.*)$')
        from_now[i] = plus == '+'
        ranks[i] = rank and whole(rank, -100, 100)
        stays[i] = rank and number(seconds, 0, 1e9)
        if rank and not stays[i] then
            return 'an id stays taken for 0 to 1000000000 seconds'
        end
    end
    return not ranks[i] and 'a priority is a whole number from -100 to 100'
end

-- Adds when it expires to its document; returns what is wrong.
local function read_life(i, life)
    local seconds = number(life, 0, 1e11)
    if not seconds or seconds == 0 then
        return 'a job expires in more than 0 seconds'
    end
    documents[i] = expiring(documents[i], now + seconds)
    return not documents[i] and 'to expire, its document must be an object with members'
end

-- Reads when it is due, if that is not now, and when it expires; returns what is wrong.
local function read_time(i, when)
    local time, life = string.match(when, '^(.*)!(.*)$')
    if time then
        local wrong = read_life(i, life)
        if wrong or time == '' then
            return wrong
        end
        when = time
    end
    local plus, seconds, wait = string.match(when, '^(%+?)([^/]*)(.*)$')
    seconds = number(seconds, 0, 1e11)
    if wait ~= '' then
        waits[i] = plus == '+' and number(string.sub(wait, 2), 0, 1e11)
    end
    if not seconds or waits[i] == false or wait ~= '' and not waits[i] then
        return 'a time is seconds from 1970, a delay is +seconds or +seconds/seconds'
    end
    if plus == '' and seconds > 0 and seconds < 1e9 then
        return 'the time ' .. when .. ' is before 2001: +' .. when .. ' was meant?'
    end
    times[i] = plus == '+' and now + seconds or seconds
end

local total, at, argv, find = (#ARGV - 2) / 4, 3, ARGV, string.find
for i = 1, total do
    local id, when, rank, document = argv[at], argv[at + 1], argv[at + 2], argv[at + 3]
    ids[i], documents[i] = id, document
    local wrong = (#id > LATER_ID_MAX or not find(id, '^[!-~]+$'))
            and 'an id is 1 to LATER_ID_MAX printable characters without space'
        or rank ~= '0' and read_rank(i, rank)
        or document == '' and 'the document is empty'
        or when ~= '' and read_time(i, when)
    if wrong then
        return redis.error_reply('ERR push: job ' .. i .. ': ' .. wrong)
    end
    at = at + 4
end
guard(total, { ready, delayed, dead }, { jobs, stats })
local stale = fence(epoch)
if stale then
    return stale
end

local texts = recorded and records_of(ids)

-- Does this tag of the record say that the id is taken until a later time? `t`: by a job that has
-- ended; `d`: by one that has not.
local function is_taken(i, tag)
    local last = value_of(texts[i], tag)
    return last and (number(last, 0, 1e12) or 0) > now
end

-- First everything is looked up, then everything is written, with a few commands for any number of
-- jobs. HMGET also reads the documents of known ids, which nobody needs. But these are rare, and no
-- command asks for many fields without their values.
local known = total > 0 and redis.call('HMGET', jobs, unpack(ids)) or {}
local fresh, soon, later, noted, notes, moved, state_of = {}, {}, {}, {}, {}, {}, {}
local left, left_notes -- nil: none of these was ready
local taken, placed = 0, 0 -- in fresh, in soon

-- Limits how long a job with `+S/M` is put off: to M seconds after `first`, its first push.
local function bound(i, first)
    first = number(first or '', 0, now) or now
    times[i] = math.min(times[i], first + waits[i])
    return 'b=' .. string.format('%.6f', first) .. '\n'
end

-- Returns the record of a new job: what the push asks for.
local function note_of(i, first)
    local note = (ranks[i] or 0) ~= 0 and 'p=' .. ranks[i] .. '\n' or ''
    if stays[i] and from_now[i] then
        note = note .. 'd=' .. string.format('%.6f', now + stays[i]) .. '\n'
    elseif stays[i] and stays[i] > 0 then
        note = note .. 'u=' .. string.format('%.6f', stays[i]) .. '\n'
    end
    note = waits[i] and note .. bound(i, first) or note
    return groups and groups[i] and note .. 'q=0 ' .. groups[i] .. '\n' or note
end

-- After an attempt the time of `+S/M` begins again.
local function first_of(text)
    return text and text ~= '' and not value_of(text, 'a') and value_of(text, 'b') or nil
end

local function take(i, id)
    local note = note_of(i, recorded and first_of(texts[i]))
    local flow = recorded and value_of(texts[i], 'f')
    for _, tag in ipairs(flow and { 'f', 's', 'v' } or {}) do
        note = with_value(note, tag, value_of(texts[i], tag))
    end
    local time = times[i]
    taken = taken + 2
    fresh[taken - 1], fresh[taken] = id, documents[i]
    if time and time > now then
        later[#later + 1] = time
        later[#later + 1] = id
        state_of[id] = 'delayed'
    else
        placed = placed + 2
        -- One that was put off as long as it may be has its turn by the time at which that ended.
        soon[placed - 1] = waits[i] and string.format('%.6f', time - (ranks[i] or 0) * 1000000)
            or score(i, ranks[i] or 0)
        soon[placed] = id
        state_of[id] = 'ready'
    end
    if note ~= '' or recorded and texts[i] ~= '' then
        noted[#noted + 1], notes[#notes + 1] = id, note
    end
end

-- Keeps a job beside the reserved one; inc/again.lua pushes it.
local function keep(i, id)
    local text = recorded and texts[i] or ''
    local before = value_of(text, 'n') or ''
    local note = string.match(before, '^%S+ (%S*) ') or ''
    note = note_of(i, string.match(note, 'b=([%d.]+)'))
    note = string.gsub(escape(note), ' ', '%%20') -- spaces separate the parts of the tag
    noted[#noted + 1] = id
    notes[#notes + 1] = with_value(text, 'n', string.format('%.6f %s %s',
        math.max(times[i] or now, now), note, escape(documents[i])))
end

-- How many more the queue may have.
local told = redis.call('HMGET', stats, 'max_jobs', 'results', 'groups')
local limit = tonumber(told[1] or 0) or 0
local room = limit > 0 and limit - redis.call('HLEN', jobs) or total
local pushed, replaced, kept, absent, full = 0, 0, 0, 0, 0

-- If jobs of this call replace each other, the last one stays.
local last = {}
for i = 1, replaces and total or 0 do
    last[ids[i]] = i
end

local answers = {}
for i = 1, total do
    local id = ids[i]
    if recorded and is_taken(i, 't') then
        answers[i] = 'EXISTS ended'
    elseif state_of[id] and replaces then
        replaced = replaced + 1
        answers[i] = 'REPLACED'
    elseif state_of[id] then -- the id came before in this call
        answers[i] = 'EXISTS ' .. state_of[id]
    elseif known[i] then
        local state = where(id)
        if replaces and (state == 'ready' or state == 'delayed') then
            moved[#moved + 1] = { state == 'ready' and ready or delayed, id }
            if state == 'ready' and recorded then
                left, left_notes = left or {}, left_notes or {}
                left[#left + 1], left_notes[#left_notes + 1] = id, texts[i]
            end
            take(last[id], id)
            replaced = replaced + 1
            answers[i] = 'REPLACED'
        elseif agains and state == 'reserved' and not (recorded and is_taken(i, 'd')) then
            keep(i, id)
            kept = kept + 1
            answers[i] = 'AGAIN'
        else
            answers[i] = 'EXISTS ' .. state
        end
    elseif seeks then
        answers[i] = 'ABSENT'
        absent = absent + 1
    elseif pushed >= room then
        answers[i] = 'FULL'
        full = full + 1
    else
        pushed = pushed + 1
        answers[i] = 'PUSHED'
        if recorded or replaces or ranks[i] or times[i] then
            take(last[id] or i, id)
        else -- the same as take(), faster, for most jobs
            taken, placed = taken + 2, placed + 2
            fresh[taken - 1], fresh[taken] = id, documents[i]
            soon[placed - 1], soon[placed] = score(i, 0), id
            state_of[id] = 'ready'
        end
    end
end

-- Where places go by groups, all these jobs get theirs. Those that have no record yet get one.
local sharing, leaving
if groups or told[3] then
-- @inside share
    sharing = placed > 0 and (groups and fair() or fair({}))
    leaving = left and fair(left_notes, true)
    local at, row = {}, {}
    for n, id in ipairs(noted) do
        at[id] = n
    end
    for k = 1, sharing and placed / 2 or 0 do
        local id = soon[2 * k]
        if not at[id] then
            at[id] = #noted + 1
            noted[at[id]], notes[at[id]] = id, ''
        end
        row[k] = at[id]
    end
    if sharing then
        sharing.place(soon, notes, row, true)
    end
end
if #fresh > 0 then
    redis.call('HSET', jobs, unpack(fresh)) -- first: a full Redis refuses it
end
for _, job in ipairs(moved) do
    redis.call('ZREM', job[1], job[2])
end
if leaving then
    leaving.leave(left, left_notes)
end
if sharing then
    sharing.write()
end
keep_records(noted, notes)
if pushed + replaced > 0 then
    place(soon, later)
end
if has_results(told[2], now) then
    local old = {}
    for i = 1, total do
        if answers[i] == 'PUSHED' or answers[i] == 'REPLACED' or answers[i] == 'ABSENT' then
            old[#old + 1] = result_of(ids[i])
        end
    end
    if #old > 0 then
        redis.call('DEL', unpack(old))
    end
end
if remember ~= '0' then
    redis.call('SET', call, table.concat(answers, '\n'), 'EX', remember)
end
local duplicate = total - pushed - replaced - kept - absent - full
local tally = { pushed = pushed, replaced = replaced, duplicate = duplicate }

-- @include answer
