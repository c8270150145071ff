-- flow_park: put jobs here that belong to a flow of another queue, which says when they run
-- KEYS   ready delayed dead jobs records stats shards waiting news
-- ARGV   mode name home (id number priority document)...
-- reply  one answer a job: WAITING, FULL, ABSENT, or `EXISTS state`
--
-- mode    new. seek: an unknown id is not put here, and answers ABSENT. `/EPOCH` after it as in push
-- name    of the flow; home: the queue that it lies in
-- number  as flow_join has answered it there: digits; then s for a step, v for one that gets values
-- priority  as in flow_push, with its group
--
-- A job that is new waits, and the flow is told so; it says what becomes of it. A known job belongs to
-- the flow from now on, as it is. So a job that has ended already, and is put here once more by somebody
-- who is late, does not run: the flow says that it is to go.

-- @include now
-- @include number
-- @include guard
-- @include fence
-- @include flow
-- @include where
-- @include results
-- @include spell

local answers, fresh, names, notes, held_back, old = {}, {}, {}, {}, {}, {}
local total, how, epoch = (#ARGV - 3) / 4, string.match(mode, '^(%a+)/?(%d*)$')

local function refusal(why)
    return redis.error_reply('ERR flow_park: ' .. why)
end

local function is_name(text)
    return #text <= 64 and string.find(text, '^[%w_.-]+$')
end

if how ~= 'new' and how ~= 'seek' or not is_name(name) or not is_name(home)
    or total > LATER_FLOW_BATCH then
    return refusal('mode is new or seek; the flow and its queue are 1 to 64 of A-Z a-z 0-9 _ . -; '
        .. 'at most LATER_FLOW_BATCH jobs a call')
end
for i = 1, total do
    local at = 4 * i
    local id, rank, group = ARGV[at], string.match(ARGV[at + 2], '^([^@]*)@?(.*)$')
    local wrong = (#id > LATER_ID_MAX or not string.find(id, '^[!-~]+$'))
            and 'an id is 1 to LATER_ID_MAX printable characters without space'
        or not whole(string.match(ARGV[at + 1], '^(%d*)s?v?$') or '', 0, 1e16)
            and 'a number is what flow_join has answered'
        or not whole(rank, -100, 100) and 'a priority is a whole number from -100 to 100'
        or group ~= '' and (#group > LATER_GROUP_MAX or not string.find(group, '^[!-z|~]+$'))
            and 'a group is 1 to LATER_GROUP_MAX printable characters without space and braces'
        or ARGV[at + 3] == '' and 'the document is empty'
    if wrong then
        return refusal('job ' .. i .. ': ' .. wrong)
    end
end
guard(total, { ready, delayed, dead, waiting, news }, { jobs, stats })
local stale = fence(epoch)
if stale then
    return stale
end
local told = redis.call('HMGET', stats, 'max_jobs', 'results')
local limit = tonumber(told[1] or 0) or 0
local room = limit > 0 and limit - redis.call('HLEN', jobs) or total
local pushed, duplicate, full, seen = 0, 0, 0, {}
local start = '^' .. string.gsub(name .. '@' .. home, '[.-]', '%%%0') .. '#(%d+)$'

-- Returns the tie by which the record belongs to this flow already, and its number.
local function tie_of(text)
    for tie in string.gmatch(value_of(text, 'f') or '', '%S+') do
        if string.find(tie, start) then
            return tie, string.match(tie, start)
        end
    end
end

local function known(id, asked, text, at, is_step)
    local tie, own = tie_of(text)
    local waits = at == 'waiting' and tie and value_of(text, 'w') == tie
    local kind = waits and 'p' or at == 'dead' and 'x' or 'o'
    if tie then
        flow_send(kind, home, name, id, own, asked)
        return
    end
    own = flow_send(kind, home, name, id, '=', asked)
    local flows_of = value_of(text, 'f')
    tie = name .. '@' .. home .. '#' .. own
    names[#names + 1] = id
    text = with_value(text, 'f', flows_of and flows_of .. ' ' .. tie or tie)
    notes[#notes + 1] = is_step and with_value(text, 's', 1) or text
end

local function park(i, id, asked, marks, rank, document)
    local group = string.match(rank, '@(.*)$')
    rank = tonumber(string.match(rank, '^[^@]*'))
    local tie = name .. '@' .. home .. '#' .. flow_send('p', home, name, id, '=', asked)
    fresh[#fresh + 1], fresh[#fresh + 2] = id, document
    names[#names + 1] = id
    notes[#notes + 1] = (rank ~= 0 and 'p=' .. rank .. '\n' or '') .. 'f=' .. tie .. '\nw=' .. tie
        .. '\n' .. (string.find(marks, 's', 1, true) and 's=1\n' or '')
        .. (string.find(marks, 'v', 1, true) and 'v=' .. name .. '@' .. home .. '\n' or '')
        .. (group and 'q=0 ' .. group .. '\n' or '')
    held_back[#held_back + 1], held_back[#held_back + 2] = spell(now + i / 1000000), id
    old[#old + 1] = result_of(id)
    seen[id] = 'waiting'
end

for i = 1, total do
    local at = 4 * i
    local id, asked, marks = ARGV[at], string.match(ARGV[at + 1], '^(%d+)(.*)$')
    if seen[id] then
        answers[i] = 'EXISTS ' .. seen[id]
        duplicate = duplicate + 1
    elseif redis.call('HEXISTS', jobs, id) == 1 then
        seen[id] = where(id)
        known(id, asked, records_of({ id })[1], seen[id], string.find(marks, 's', 1, true))
        answers[i] = 'EXISTS ' .. seen[id]
        duplicate = duplicate + 1
    elseif how == 'seek' then
        answers[i] = 'ABSENT'
    elseif pushed >= room then
        answers[i] = 'FULL'
        full = full + 1
    else
        park(i, id, asked, marks, ARGV[at + 2], ARGV[at + 3])
        answers[i] = 'WAITING'
        pushed = pushed + 1
    end
end
if #fresh > 0 then
    redis.call('HSET', jobs, unpack(fresh)) -- first: a full Redis refuses it
end
keep_records(names, notes)
if #held_back > 0 then
    redis.call('ZADD', waiting, unpack(held_back))
end
if has_results(told[2], now) and #old > 0 then
    redis.call('DEL', unpack(old))
end
flow_post()
local tally = { pushed = pushed, duplicate = duplicate }

-- @include answer
