-- flow_push: put jobs of a flow into a queue; they wait for other jobs of it
-- KEYS   ready delayed dead jobs records wake paused stats shards waiting flows flow unknown
-- ARGV   name adder close keep (id step after when due priority document)...
-- reply  one answer a job: PUSHED, WAITING, FULL, or `EXISTS state`; CLOSED alone: nothing was pushed
--
-- name      of the flow: 1 to 64 of A-Z a-z 0-9 _ . -
-- adder     the id of a running job of the flow: it may add to it even if it is closed; '' for all others
-- close     1: no more is added after this call, unless a job was FULL; else 0
-- keep      seconds that the flow is kept when it has ended; '': as the queue's `flows_kept` in stats says
-- step      the name of this job in its flow, as `flow`; '' for none
-- after     steps it waits for, at most 100, with commas between; `*`: all jobs of the flow without `*`;
--           '' for nothing
-- when      done: all of them are; ended: in whatever way; failed: the first is dead or gone
-- due       '': now; '+S': in S seconds; S: at that UNIX time. For one that waits, S counts from then
-- priority  -100 to 100, higher first; then `@GROUP`, if it has one, as in push
-- state     ready, delayed, reserved, dead, waiting; done, gone or skipped, if it has ended in this flow
--
-- A step may be named before it is pushed. So push those that wait first: then nothing has begun whose
-- successor is not there. What was pushed before is not pushed again, whatever has become of it.

-- @include now
-- @include score
-- @include flow_add
-- @include place
-- @include where
-- @include results
-- @include share
-- @include guard_fair

local fresh, soon, later, answers, total = {}, {}, {}, {}, (#ARGV - 4) / 7
local ended_as = { d = 'done', g = 'gone', l = 'gone', s = 'skipped' }

-- Returns the i-th job.
local function flow_job(i)
    local at, argv = 7 * i - 2, ARGV
    local job = { id = argv[at], step = argv[at + 1], after = argv[at + 2], when = argv[at + 3],
        due = argv[at + 4], priority = argv[at + 5], document = argv[at + 6] }
    if job.priority ~= '0' then
        job.priority, job.group = string.match(job.priority, '^([^@]*)@(.*)$')
        job.priority = job.priority or argv[at + 5]
    end
    return job
end

local function refusal(why)
    return redis.error_reply('ERR flow_push: ' .. why)
end

for i = 1, total do
    flow_list[i] = flow_job(i)
end
if flow_misnamed() then
    return refusal(flow_misnamed())
end
for i, job in ipairs(flow_list) do
    local wrong = flow_wrong(job)
        or job.priority ~= '0' and not whole(job.priority, -100, 100)
            and 'a priority is a whole number from -100 to 100'
        or job.group and (#job.group > LATER_GROUP_MAX or not string.find(job.group, '^[!-z|~]+$'))
            and 'a group is 1 to LATER_GROUP_MAX printable characters without space and braces'
        or job.document == '' and 'the document is empty'
    if wrong then
        return refusal('job ' .. i .. ': ' .. wrong)
    end
end
guard(total, { ready, delayed, dead, waiting, flows }, { jobs, stats, flow })
guard_fair(true)
if total > 0 and (redis.call('GET', shards) or '0') ~= '0' then
    return refusal('jobs of a queue with shards are put there by flow_join and flow_park')
end
local closed, why = flow_open()
if why then
    return why == 'CLOSED' and why or refusal(why)
end

local results = redis.call('HMGET', stats, 'max_jobs', 'results', 'groups')
local limit = tonumber(results[1] or 0) or 0
local room = limit > 0 and limit - redis.call('HLEN', jobs) or total
local pushed, duplicate, full, noted, notes = 0, 0, 0, {}, {}
local old, held_back, row = {}, {}, {} -- row: of each in soon, where its record is in notes
local any_group
local dropping, plain = has_results(results[2], now), 'f=' .. name .. '\n'

-- What is known of them, by few commands. HMGET also reads the documents of those that live and are
-- not in the flow yet, which are rare.
local fields, new, lives = {}, {}, {}
for i = 1, total do
    fields[i] = 'j:' .. flow_list[i].id
end
local members = total > 0 and redis.call('HMGET', flow, unpack(fields)) or {}
for i = 1, total do
    if not members[i] then
        new[#new + 1] = flow_list[i].id
    end
end
local documents = #new > 0 and redis.call('HMGET', jobs, unpack(new)) or {}
for i = 1, #new do
    lives[new[i]] = documents[i]
end

local seen = {}
for i = 1, total do
    local job = flow_list[i]
    local member = members[i] and flow_parsed(job.id, members[i])
    if seen[job.id] or member and (member.queue or ended_as[member.state]) then
        answers[i] = 'EXISTS ' .. (seen[job.id] or ended_as[member.state] or 'elsewhere')
        duplicate = duplicate + 1
    elseif lives[job.id] or member and redis.call('HEXISTS', jobs, job.id) == 1 then
        -- It lives: it belongs to this flow, too, as it is.
        local text, at = records_of({ job.id })[1], where(job.id)
        if not member then
            local flows_of = value_of(text, 'f')
            noted[#noted + 1] = job.id
            text = with_value(text, 'f', flows_of and flows_of .. ' ' .. name or name)
            notes[#notes + 1] = job.step ~= '' and with_value(text, 's', 1) or text
            job.after = ''
            flow_add(job, at == 'dead' and 'x' or at == 'waiting' and 'w' or 'o')
            seen[job.id] = at
        end
        answers[i] = 'EXISTS ' .. at
        duplicate = duplicate + 1
    elseif pushed >= room then
        answers[i] = 'FULL'
        full = full + 1
    else
        pushed = pushed + 1
        fresh[#fresh + 1], fresh[#fresh + 2] = job.id, job.document
        local rank = tonumber(job.priority)
        noted[#noted + 1] = job.id
        notes[#notes + 1] = (rank ~= 0 and 'p=' .. rank .. '\n' or '') .. plain
            .. (job.step ~= '' and 's=1\n' or '')
            .. (job.after ~= '' and 'v=' .. name .. '\n' or '')
            .. (job.group and 'q=0 ' .. job.group .. '\n' or '')
        any_group = any_group or job.group
        local time
        if job.due ~= '' then
            time = tonumber(string.match(job.due, '^%+?(.*)$'))
            time = string.byte(job.due) == 43 and now + time or time
        end
        old[#old + 1] = dropping and result_of(job.id) or nil
        if job.after ~= '' then
            answers[i] = 'WAITING'
            held_back[#held_back + 1], held_back[#held_back + 2] = spell(now + i / 1000000), job.id
        elseif time and time > now then
            answers[i] = 'PUSHED'
            later[#later + 1], later[#later + 2] = time, job.id
        else
            answers[i] = 'PUSHED'
            soon[#soon + 1], soon[#soon + 2] = score(i, rank), job.id
            row[#row + 1] = #notes
        end
        seen[job.id] = job.after ~= '' and 'waiting' or time and time > now and 'delayed' or 'ready'
        flow_add(job, job.after ~= '' and 'w' or 'o')
    end
end

if #fresh > 0 then
    redis.call('HSET', jobs, unpack(fresh)) -- first: a full Redis refuses it
end
local shared = #soon > 0 and (any_group and fair() or results[3] and fair({}))
if shared then
    shared.place(soon, notes, row)
end
keep_records(noted, notes)
if #held_back > 0 then
    redis.call('ZADD', waiting, unpack(held_back))
end
if #soon + #later > 0 then
    place(soon, later)
end
if #old > 0 then
    redis.call('DEL', unpack(old))
end
flow_enter(closed, full == 0 and close)
local tally = { pushed = pushed, duplicate = duplicate }

-- @include answer
