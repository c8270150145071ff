-- flow_push: put jobs of a flow into a queue; they wait for other jobs of it
-- KEYS   ready delayed dead jobs records wake paused stats shards waiting flows flow unknown
-- ARGV   name adder close keep (id step after when due priority document)...
-- reply  one answer a job: PUSHED, WAITING, FULL, or `EXISTS state`; CLOSED alone: nothing was pushed
--
-- name      of the flow: 1 to 64 of A-Z a-z 0-9 _ . -
-- adder     the id of a running job of the flow: it may add to it even if it is closed; '' for all others
-- close     1: no more is added after this call, unless a job was FULL; else 0
-- keep      seconds that the flow is kept when it has ended
-- step      the name of this job in its flow, as `flow`; '' for none
-- after     steps it waits for, at most 100, with commas between; `*`: all jobs of the flow without `*`;
--           '' for nothing
-- when      done: all of them are; ended: in whatever way; failed: the first is dead or gone
-- due       '': now; '+S': in S seconds; S: at that UNIX time. For one that waits, S counts from then
-- priority  -100 to 100, higher first
-- state     ready, delayed, reserved, dead, waiting; done, gone or skipped, if it has ended in this flow
--
-- A step may be named before it is pushed. So push those that wait first: then nothing has begun whose
-- successor is not there. What was pushed before is not pushed again, whatever has become of it.

-- @include now
-- @include score
-- @include number
-- @include flow
-- @include place
-- @include where
-- @include spell
-- @include results

local fresh, soon, later, answers, total = {}, {}, {}, {}, (#ARGV - 4) / 7
local ended_as = { d = 'done', g = 'gone', s = 'skipped' }

local function is_name(text)
    return #text <= 64 and string.find(text, '^[%w_.-]+$')
end

-- Returns the i-th job.
local function flow_job(i)
    local at, job = 7 * i - 2, {}
    for n, member in ipairs({ 'id', 'step', 'after', 'when', 'due', 'priority', 'document' }) do
        job[member] = ARGV[at + n - 1]
    end
    return job
end

-- Returns what is wrong with a job.
local function flow_wrong(job)
    local steps = 0
    if job.after ~= '*' then
        for step in string.gmatch(job.after, '[^,]+') do
            steps = steps + (is_name(step) and 1 or 1000)
        end
    end
    local seconds = number(string.match(job.due, '^%+?(.*)$'), 0, 1e11)
    return (#job.id > 200 or not string.find(job.id, '^[!-~]+$'))
            and 'an id is 1 to 200 printable characters without space'
        or job.step ~= '' and not is_name(job.step) and 'a step is 1 to 64 of A-Z a-z 0-9 _ . -'
        or steps > 100 and 'it waits for at most 100 steps, with commas between'
        or not (job.when == 'done' or job.when == 'ended' or job.when == 'failed')
            and 'when is done, ended or failed'
        or job.due ~= '' and (not seconds or string.byte(job.due) ~= 43 and seconds > 0
            and seconds < 1e9) and 'a time is seconds from 1970, a delay is +seconds'
        or not whole(job.priority, -100, 100) and 'a priority is a whole number from -100 to 100'
        or job.document == '' and 'the document is empty'
end

local list = {}
if not is_name(name) or flow ~= flow_key(name) or not whole(close, 0, 1)
    or not number(keep, 0, 1e9) or total > 200 then
    return redis.error_reply('ERR flow_push: a name is 1 to 64 of A-Z a-z 0-9 _ . -, close is 0 '
        .. 'or 1, keep is seconds; at most 200 jobs a call')
end
for i = 1, total do
    list[i] = flow_job(i)
    local wrong = flow_wrong(list[i])
    if wrong then
        return redis.error_reply('ERR flow_push: job ' .. i .. ': ' .. wrong)
    end
end
guard(total, { ready, delayed, dead, waiting, flows }, { jobs, stats, flow })
if (redis.call('GET', shards) or '0') ~= '0' then
    return redis.error_reply('ERR flow_push: a queue with shards has no flows yet')
end
-- An ended flow of this name whose time is over makes room for a new one.
local till = redis.call('ZSCORE', flows, name)
if till and tonumber(till) <= now then
    count(stats, 'pushed', 0) -- first: a full Redis refuses it
    redis.call('UNLINK', flow, unknown)
    redis.pcall('UNLINK', flow .. ':values', flow .. ':failed')
end
local told = redis.call('HMGET', flow, 'closed', 'total', '*total')
local before = tonumber(told[2] or 0) + tonumber(told[3] or 0)
if told[1] == '1' then
    local by = adder ~= '' and flow_read(flow, adder)
    if not by or by.state ~= 'o' then
        local known = 0 -- to push again what is there is allowed
        for i = 1, total do
            known = known + redis.call('HEXISTS', flow, 'j:' .. list[i].id)
        end
        if known < total then
            return 'CLOSED'
        end
    end
end
if not told[1] and redis.call('ZCOUNT', flows, 'inf', 'inf') >= 100000 then
    return redis.error_reply('ERR flow_push: there are 100000 open flows')
elseif before + total > 1000000 then
    return redis.error_reply('ERR flow_push: a flow has at most 1000000 jobs')
end
-- Steps of one name, and waiters of one step.
local waiters = {}
for i = 1, total do
    local job = list[i]
    local other = job.step ~= '' and redis.call('HGET', flow, 's:' .. job.step)
    if other and other ~= job.id then
        return redis.error_reply('ERR flow_push: job ' .. i .. ': step ' .. job.step .. ' is job '
            .. other)
    end
    for step in string.gmatch(job.after, '[^,]+') do
        waiters[step] = waiters[step] or redis.call('HGET', flow, 'a:' .. step) or ''
        if not string.find(' ' .. waiters[step] .. ' ', ' ' .. job.id .. ' ', 1, true) then
            waiters[step] = waiters[step] == '' and job.id or waiters[step] .. ' ' .. job.id
        end
        local _, spaces = string.gsub(waiters[step], ' ', '')
        if spaces >= 100 then
            return redis.error_reply('ERR flow_push: job ' .. i .. ': 100 jobs wait for ' .. step)
        end
    end
end

local results = redis.call('HMGET', stats, 'max_jobs', 'results')
local limit = tonumber(results[1] or 0) or 0
local room = limit > 0 and limit - redis.call('HLEN', jobs) or total
local pushed, duplicate, full, noted, notes, added = 0, 0, 0, {}, {}, {}
local old, held_back = {}, {}

-- A job of the flow, in this state, which is new to it.
local function flow_add(job, state)
    added[#added + 1] = { id = job.id, state = state, step = job.step ~= '' and job.step or '-',
        when = job.when, delay = job.due ~= '' and job.due or '-',
        after = job.after ~= '' and job.after or '-', star = job.after == '*' and '*' or '' }
end

local seen = {}
for i = 1, total do
    local job = list[i]
    local member = redis.call('HGET', flow, 'j:' .. job.id)
    local state = member and string.sub(member, 1, 1)
    if ended_as[state] or seen[job.id] then
        answers[i] = 'EXISTS ' .. (ended_as[state] or seen[job.id])
        duplicate = duplicate + 1
    elseif redis.call('HEXISTS', jobs, job.id) == 1 then
        -- It lives: it belongs to this flow, too, as it is.
        local text, at = records_of({ job.id })[1], where(job.id)
        if not member then
            local flows_of = value_of(text, 'f')
            noted[#noted + 1] = job.id
            text = with_value(text, 'f', flows_of and flows_of .. ' ' .. name or name)
            notes[#notes + 1] = job.step ~= '' and with_value(text, 's', 1) or text
            job.after = ''
            flow_add(job, at == 'dead' and 'x' or at == 'waiting' and 'w' or 'o')
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
        notes[#notes + 1] = (rank ~= 0 and 'p=' .. rank .. '\n' or '') .. 'f=' .. name .. '\n'
            .. (job.step ~= '' and 's=1\n' or '')
            .. (job.after ~= '' and 'v=' .. name .. '\n' or '')
        local time = tonumber(string.match(job.due, '^%+?(.*)$'))
        time = string.byte(job.due) == 43 and now + time or time
        old[#old + 1] = result_of(job.id)
        if job.after ~= '' then
            answers[i] = 'WAITING'
            held_back[#held_back + 1], held_back[#held_back + 2] = spell(now + i / 1000000), job.id
        elseif time and time > now then
            answers[i] = 'PUSHED'
            later[#later + 1], later[#later + 2] = time, job.id
        else
            answers[i] = 'PUSHED'
            soon[#soon + 1], soon[#soon + 2] = score(i, rank), job.id
        end
        seen[job.id] = job.after ~= '' and 'waiting' or time and time > now and 'delayed' or 'ready'
        flow_add(job, job.after ~= '' and 'w' or 'o')
    end
end

if #fresh > 0 then
    redis.call('HSET', jobs, unpack(fresh)) -- first: a full Redis refuses it
end
if not told[1] then
    redis.call('HSET', flow, 'closed', '0', 'made', spell(now), 'keep', keep)
end
keep_records(noted, notes)
if #held_back > 0 then
    redis.call('ZADD', waiting, unpack(held_back))
end
if #soon + #later > 0 then
    place(soon, later)
end
if has_results(results[2], now) and #old > 0 then
    redis.call('DEL', unpack(old))
end
for step, ids in pairs(waiters) do
    redis.call('HSET', flow, 'a:' .. step, ids)
    if step ~= '*' and redis.call('HEXISTS', flow, 's:' .. step) == 0 then
        redis.call('HSET', unknown, step, 1)
    end
end
for _, job in ipairs(added) do
    if job.step ~= '-' then
        redis.call('HSET', flow, 's:' .. job.step, job.id)
        redis.call('HDEL', unknown, job.step)
    end
    local plain = job.step == '-' and job.after == '-'
    flow_write(flow, plain and { id = job.id, state = job.state } or job)
    if job.state == 'x' and job.star == '' then
        redis.pcall('ZADD', flow .. ':failed', 'NX', spell(now), job.id)
    end
    redis.call('HINCRBY', flow, job.star .. 'total', 1)
    redis.call('HINCRBY', flow, job.star .. counted[job.state], 1)
    if job.state == 'w' then
        flow_queue[#flow_queue + 1] = { flow, job.id }
    else
        flow_ask(flow, job)
    end
end
if close == '1' and full == 0 and told[1] ~= '1' then
    redis.call('HSET', flow, 'closed', '1')
    local steps = redis.call('HGETALL', unknown)
    steps[#steps + 1] = '*'
    for i = 1, #steps, 2 do
        for id in string.gmatch(redis.call('HGET', flow, 'a:' .. steps[i]) or '', '%S+') do
            flow_queue[#flow_queue + 1] = { flow, id }
        end
    end
    redis.call('DEL', unknown)
end
flow_ended[flow] = true
flow_go_on()
for counter, n in pairs({ pushed = pushed, duplicate = duplicate }) do
    if n > 0 then
        count(stats, counter, n)
    end
end
if full > 0 then
    redis.pcall('HINCRBY', stats, 'refused', full)
end
return answers
