-- @include now
-- @include guard
-- @include record
-- @include count
-- @include fail
-- @include backwards

-- Flows: jobs that wait for jobs (doc/protocol.md, "Flows"). Tag `f` of a job's record names the
-- flow that it belongs to; `FLOW@QUEUE#NUMBER`, if the flow lies in another queue. It is one hash:
--
--   closed made keep             1 when no more may be added; when it was made; seconds to keep it
--   total open waiting dead done gone skipped    its jobs without `*`, by what has become of them;
--                                open: ready, delayed or reserved. With `*` before: those with `*`
--   j:ID                         a job: its state, or `STATE STEP WHEN DELAY AFTER`; if it lies in
--                                another queue, or in a shard, `… QUEUE:NUMBER` after that
--   v:ID                         the number of the last news by which such a job was dead, or alive
--   s:STEP                       the job of this step
--   a:STEP                       the jobs that wait for this step; `a:*`: for all without `*`
--
-- Beside it `:values` is a hash: the values of done steps that others wait for (finish.lua). And
-- `:failed` is a zset: the first thousand jobs that are dead or gone, by time. Both are for those
-- who wait (values.lua). Nothing here depends on them, so a key of another type is no error.
--
-- The state of a job is a letter: w waits, o open (ready, delayed or reserved), x dead, d done, g
-- gone, l lost (gone, too), s skipped. d, g, l and s are final, so it does not matter how often an
-- ending is told.
--
-- The NUMBER of a job in another queue is that of the news by which it was tied to the flow there.
-- As long as that has not been heard it is below 0: less the time of its first flow_join, in
-- microseconds.

local base = string.sub(jobs, 1, -5)
local in_flows, in_waiting, in_news = base .. 'flows', base .. 'waiting', base .. 'news'
local final = { d = true, g = true, s = true, l = true }
local counted = { o = 'open', w = 'waiting', x = 'dead', d = 'done', g = 'gone', s = 'skipped',
    l = 'gone' }
local other = { open = 'waiting', waiting = 'open' } -- what is left is one of them

local flow_kept = LATER_FLOW_KEPT -- seconds, if neither the push nor the queue says for how long

local function flow_key(flow)
    return base .. 'flow:' .. flow
end

-- Calls of one script share what they found and what they have to do.
local flow_due, flow_asked, flow_queue, flow_ended = {}, {}, {}, {}
local flow_soon = {} -- the ids and records of those that become ready at once, one after the other

-- What the text under `j:ID` says.
local function flow_parsed(id, text)
    local state, step, when, delay, after, place =
        string.match(text, '^(%a) (%S+) (%S+) (%S+) (%S+) ?(%S*)$')
    local queue, number = string.match(place or '', '^(.+):(%-?%d+)$')
    return { id = id, state = state or string.sub(text, 1, 1), step = step, when = when,
        delay = delay, after = after, star = after == '*' and '*' or '', queue = queue,
        number = number }
end

local function flow_read(key, id)
    local text = redis.call('HGET', key, 'j:' .. id)
    return text and flow_parsed(id, text) or nil
end

local function flow_text(job)
    return job.when and table.concat({ job.state, job.step, job.when, job.delay, job.after,
        job.queue and job.queue .. ':' .. job.number }, ' ') or job.state
end

local function flow_write(key, job)
    redis.call('HSET', key, 'j:' .. job.id, flow_text(job))
end

-- ---- news for other queues

-- Queues lie in different places, so no script sees two of them. What one has to tell another, it
-- puts into `news`, in the same step: `NUMBER KIND QUEUE FLOW ID …`, with NUMBER as score, too.
-- Whoever moves news (laterd) reads the first ones, has QUEUE hear them, by flow_hear, and then
-- removes them here. So each is heard at least once, and none for the first time before those that
-- were put there earlier. Numbers are times in microseconds; they grow even if a failover has lost
-- the last ones.

local flow_news, flow_number = {}, nil
local flow_left = {} -- what steps have left that are done now: id → value, as JSON

-- Returns the number of the news.
local function flow_send(...)
    flow_number = (flow_number or math.max(math.floor(now * 1000000),
        tonumber(redis.call('HMGET', stats, 'news')[1] or 0) or 0)) + 1
    local number = string.format('%.0f', flow_number)
    flow_news[#flow_news + 1] = number
    flow_news[#flow_news + 1] = number .. ' ' .. table.concat({ ... }, ' ')
    return number
end

-- The channel `due` is heard by those who call migrate, which tells that there is news.
local function flow_post()
    if #flow_news == 0 then
        return
    end
    local is_first = redis.call('EXISTS', in_news) == 0
    for i = 1, #flow_news, 1000 do
        redis.call('ZADD', in_news, unpack(flow_news, i, math.min(i + 999, #flow_news)))
    end
    redis.call('HSET', stats, 'news', flow_news[#flow_news - 1])
    if is_first then -- who only kicks may not; then the next look finds it
        redis.pcall('PUBLISH', base .. 'due', string.format('%.6f', now))
    end
    flow_news = {}
end

-- Has everybody who waits for this job look whether the time has come.
local function flow_ask(key, job, is_last)
    local fields = {}
    if job.step and job.step ~= '-' then
        fields[1] = 'a:' .. job.step
    end
    local failed_now = job.state == 'x' or job.state == 'g' or job.state == 'l'
    if job.star == '' and (is_last or failed_now) then
        fields[#fields + 1] = 'a:*'
    end
    for _, field in ipairs(fields) do
        for id in string.gmatch(redis.call('HGET', key, field) or '', '%S+') do
            if not flow_asked[key .. ' ' .. id] then
                flow_asked[key .. ' ' .. id] = true
                flow_queue[#flow_queue + 1] = { key, id }
            end
        end
    end
end

-- A job of the flow changes its state; returns false if it has ended for good before.
local function flow_move(key, job, state)
    if final[job.state] or job.state == state then
        return false
    end
    local from, to = counted[job.state], counted[state]
    job.state = state
    flow_write(key, job)
    if (state == 'x' or state == 'g' or state == 'l') and job.star == '' then
        if redis.pcall('ZCARD', key .. ':failed') ~= 1000 then
            redis.pcall('ZADD', key .. ':failed', 'NX', string.format('%.6f', now), job.id)
        end
    elseif from == 'dead' then
        redis.pcall('ZREM', key .. ':failed', job.id)
    end
    local is_last = false
    if from ~= to then
        redis.call('HINCRBY', key, job.star .. to, 1)
        is_last = redis.call('HINCRBY', key, job.star .. from, -1) == 0
            and other[from] and not other[to]
            and tonumber(redis.call('HGET', key, job.star .. other[from]) or 0) == 0
    end
    flow_ended[key] = true
    if not other[to] then -- nobody waits for a job to begin
        flow_ask(key, job, is_last)
    end
    return true
end

local function flow_name(key)
    return string.sub(key, #flow_key('') + 1)
end

-- A job has changed its state: this tells the flow that the tie names.
local function flow_tied(tie, id, state)
    local flow, home, number = string.match(tie, '^(.+)@(.+)#(%d+)$')
    local job = not flow and flow_read(flow_key(tie), id)
    if flow or job and job.state == 'w' then
        redis.call('ZREM', in_waiting, id) -- a plain ZADD had named it, and it has run
    end
    if flow then
        flow_send(state, home, flow, id, number, state == 'd' and flow_left[id] or nil)
    elseif job then
        flow_move(flow_key(tie), job, state)
    end
end

-- One of its flows has decided what becomes of a job; this tells the others.
local function flow_others(id, text, decided, state)
    for tie in string.gmatch(value_of(text, 'f') or '', '%S+') do
        if tie ~= decided then
            flow_tied(tie, id, state)
        end
    end
end

-- ---- what becomes of a job that waits

-- It runs: it becomes ready, or goes into `delayed`, if its push asked for that. Of very many jobs
-- the rest goes there, too, due now: migrate moves them in small steps.
local function flow_run(id, delay, text)
    local seconds = tonumber(string.match(delay, '^%+(.*)$') or '')
    local due = seconds and now + seconds or math.max(now, tonumber(delay) or now)
    if due > now or #flow_soon == 1000 then
        flow_due[#flow_due + 1] = string.format('%.6f', due)
        flow_due[#flow_due + 1] = id
    else
        flow_soon[#flow_soon + 1], flow_soon[#flow_soon + 2] = id, text
    end
end

local function flow_release(key, job)
    if job.queue then
        flow_send('run', job.queue, flow_name(key), job.id, job.number, job.delay)
    else
        local text = records_of({ job.id })[1]
        flow_run(job.id, job.delay, text)
        flow_others(job.id, text, flow_name(key), 'o')
    end
    flow_move(key, job, 'o')
end

-- What it waits for can no longer happen, in the flow that `tie` names.
local function flow_dead(id, tie, why)
    local text = records_of({ id })[1]
    local tail = string.format('"kind":"flow","text":"%s","host":""}', why)
    keep_records({ id }, { with_error(text, count_of(text, 'a'), tail) })
    redis.call('ZADD', base .. 'dead', string.format('%.6f', now), id)
    count(stats, 'buried', 1)
    count(stats, 'buried_waiting', 1)
    flow_others(id, text, tie, 'x')
end

local function flow_bury(key, job, why)
    if job.queue then
        flow_send('bury', job.queue, flow_name(key), job.id, job.number, why)
    else
        flow_dead(job.id, flow_name(key), why)
    end
    flow_move(key, job, 'x')
end

-- It was to run after a failure, and there was none; or nobody needs it.
local function flow_drop(id, tie)
    local text = records_of({ id })[1]
    redis.call('HDEL', jobs, id)
    redis.call('HDEL', records, id)
    count(stats, 'cancelled', 1)
    flow_others(id, text, tie, 's')
end

local function flow_skip(key, job)
    if job.queue then
        flow_send('drop', job.queue, flow_name(key), job.id, job.number)
    else
        flow_drop(job.id, flow_name(key))
    end
    flow_move(key, job, 's')
end

local fates = { g = 'was cancelled, purged, expired or trimmed', s = 'was not needed',
    u = 'does not exist', l = 'was lost' }

-- What becomes of a job with `*`: run, skip, why it is dead; nil: it goes on waiting.
local function flow_all(key, flow, job)
    local told = redis.call('HMGET', key, 'closed', 'dead', 'gone', 'open', 'waiting')
    local dead, gone = tonumber(told[2] or 0), tonumber(told[3] or 0)
    local over = told[1] == '1' and tonumber(told[4] or 0) + tonumber(told[5] or 0) == 0
    if job.when == 'failed' then
        return dead + gone > 0 and 'run' or over and 'skip' or nil
    elseif job.when == 'ended' then
        return over and 'run' or nil
    elseif gone > 0 then
        return nil, string.format('needs all jobs of flow %s, and %d of them are gone', flow, gone)
    end
    return over and dead == 0 and 'run' or nil
end

-- The same for a job that names steps, or, in another queue, nothing.
local function flow_some(key, flow, job)
    if job.after == '-' then
        return 'run'
    end
    local fields, names, states, known = {}, {}, {}, {}
    for step in string.gmatch(job.after, '[^,]+') do
        names[#names + 1], fields[#fields + 1] = step, 's:' .. step
    end
    local ids = redis.call('HMGET', key, 'closed', unpack(fields))
    local closed = table.remove(ids, 1) == '1'
    for i = 1, #names do
        known[i] = 'j:' .. (ids[i] or '')
    end
    local texts = redis.call('HMGET', key, unpack(known))
    local all_done, all_ended, failure, lacking = true, true, false, nil
    for i = 1, #names do
        local state = ids[i] and string.sub(texts[i] or 'u', 1, 1) or closed and 'u' or '?'
        all_done = all_done and state == 'd'
        all_ended = all_ended and (final[state] or state == 'x' or state == 'u')
        failure = failure or state == 'x' or state == 'g' or state == 'l' or state == 'u'
        states[state] = true
        lacking = lacking or fates[state] and 'needs step ' .. names[i] .. ' of flow ' .. flow
            .. ', which ' .. fates[state]
    end
    if job.when == 'failed' then
        return failure and 'run' or all_ended and 'skip' or nil
    elseif job.when == 'ended' then
        return all_ended and 'run' or nil
    end
    return all_done and 'run' or nil, lacking
end

local function flow_look(key, id)
    local flow, job = flow_name(key), flow_read(key, id)
    if not job or job.state ~= 'w' or job.queue and tonumber(job.number) < 0
        or (job.after or '-') == '-' and not job.queue then
        return -- nobody knows that it is there; or it waits in another flow
    end
    local fate, why = (job.star == '*' and flow_all or flow_some)(key, flow, job)
    if (fate or why) and not job.queue and redis.call('ZREM', in_waiting, id) == 0 then
        return -- it was taken out by hand
    elseif fate == 'run' then
        flow_release(key, job)
    elseif fate == 'skip' then
        flow_skip(key, job)
    elseif why then
        flow_bury(key, job, why)
    end
end

-- Has a flow ended? Then it is kept for a while, and those whose time is over go, two for each.
local function flow_keep(key)
    local told = redis.call('HMGET', key, 'closed', 'keep', 'open', '*open', 'waiting', '*waiting',
        'dead', '*dead')
    local rest, till = 0, 'inf'
    for i = 3, 8 do
        rest = rest + tonumber(told[i] or 0)
    end
    if told[1] == '1' and rest == 0 then
        till = string.format('%.6f', now + tonumber(told[2] or flow_kept))
    end
    redis.call('ZADD', in_flows, till, flow_name(key))
    local over = redis.call('ZRANGEBYSCORE', in_flows, '-inf', now, 'LIMIT', 0, 2)
    for _, flow in ipairs(over) do
        -- Who only kicks may not; others will.
        local gone = redis.pcall('UNLINK', flow_key(flow), flow_key(flow .. ':values'),
            flow_key(flow .. ':failed'))
        if type(gone) == 'number' then
            redis.call('ZREM', in_flows, flow)
        end
    end
end

-- Does what the calls before have left to do. Every script that ends jobs calls it at its end.
-- Returns whether jobs have become ready.
local function flow_go_on()
    local at = 1
    while flow_queue[at] do
        local key, id = flow_queue[at][1], flow_queue[at][2]
        flow_asked[key .. ' ' .. id] = nil
        flow_look(key, id)
        at = at + 1
    end
    for key in pairs(flow_ended) do
        flow_keep(key)
    end
    if #flow_soon > 0 and (string.find(table.concat(flow_soon, '\n'), 'q=', 1, true)
        or redis.call('HLEN', base .. 'fair') > 0) then
        for i = 1, #flow_soon, 2 do -- where places go by groups, migrate gives them
            flow_due[#flow_due + 1] = string.format('%.6f', now)
            flow_due[#flow_due + 1] = flow_soon[i]
        end
        flow_soon = {}
    end
    if #flow_due > 0 then
        local set = base .. 'delayed'
        local before = redis.call('ZRANGE', set, 0, 0, 'WITHSCORES')
        for i = 1, #flow_due, 1000 do
            redis.call('ZADD', set, unpack(flow_due, i, math.min(i + 999, #flow_due)))
        end
        local first = redis.call('ZRANGE', set, 0, 0, 'WITHSCORES')
        if first[2] ~= before[2] then
            redis.call('PUBLISH', base .. 'due', first[2])
        end
    end
    flow_post()
    if #flow_soon == 0 then
        return false
    end
    -- Few scripts that end jobs name these keys.
    local ready, wake, paused = base .. 'ready', base .. 'wake', base .. 'paused'
-- @inside wake
    local soon = {}
    for i = 1, #flow_soon, 2 do
        soon[i] = string.format('%.6f', now + (i + 1) / 2000000 - rank(flow_soon[i + 1]))
        soon[i + 1] = flow_soon[i]
    end
    redis.call('ZADD', ready, unpack(backwards(soon)))
    leave_wake(true)
    return true
end

-- ---- what scripts call that end jobs, or revive dead ones

-- Before the first write: it fails on a key of a wrong type.
local function flow_guard()
    guard(0, { in_flows, in_waiting, in_news, base .. 'delayed', base .. 'dead', base .. 'ready' },
        { base .. 'fair' })
end

-- Returns those of these jobs that belong to flows, { tie, id } each; nil if none does. Before the
-- first write: it fails on a key of a wrong type.
local function flow_of(ids, texts)
    if not string.find(table.concat(texts), 'f=', 1, true) then
        return nil -- at once: what queues without flows pay
    end
    local found, n, last = {}, 0, nil
    local function add(tie, id)
        n = n + 1
        found[n] = { tie, id }
        if tie ~= last and not string.find(tie, '@', 1, true) then
            redis.call('HLEN', flow_key(tie))
        end
        last = tie
    end
    for i = 1, #ids do
        local flows = string.match(texts[i], '^f=([^\n]*)') or value_of(texts[i], 'f')
        if flows and not string.find(flows, ' ', 1, true) then
            add(flows, ids[i])
        else
            for tie in string.gmatch(flows or '', '%S+') do
                add(tie, ids[i])
            end
        end
    end
    found = n > 0 and found or nil
    if found then
        flow_guard()
    end
    return found
end

-- Those of these jobs that were open, and are in a flow without a step or anything to wait for,
-- are done; mostly all of a batch. Few commands do for all of them what flow_tied() does for each.
-- Returns the others.
local function flow_plain(found)
    local ties, rows_of, told, rest = {}, {}, {}, {}
    for i = 1, #found do
        local tie = found[i][1]
        local rows = rows_of[tie]
        if not rows then
            rows, ties[#ties + 1] = {}, tie
            rows_of[tie] = rows
        end
        rows[#rows + 1] = i
    end
    for _, tie in ipairs(ties) do
        local key, fields, row, n, seen = flow_key(tie), {}, {}, 0, {}
        for k, i in ipairs(rows_of[tie]) do
            fields[k] = 'j:' .. found[i][2]
        end
        local texts = string.find(tie, '@', 1, true) and {}
            or redis.call('HMGET', key, unpack(fields))
        for k, i in ipairs(rows_of[tie]) do
            if texts[k] == 'o' and not seen[fields[k]] then
                seen[fields[k]], told[i] = true, true
                row[n + 1], row[n + 2] = fields[k], 'd'
                n = n + 2
            end
        end
        if n > 0 then
            redis.call('HSET', key, unpack(row))
            redis.call('HINCRBY', key, 'done', n / 2)
            if redis.call('HINCRBY', key, 'open', -n / 2) == 0
                and tonumber(redis.call('HGET', key, 'waiting') or 0) == 0 then
                flow_ask(key, { star = '' }, true)
            end
            flow_ended[key] = true
        end
    end
    for i = 1, #found do
        rest[#rest + 1] = not told[i] and found[i] or nil
    end
    return rest
end

-- These jobs (of flow_of) are now in this state: d, g, x, or o if they live again. Returns whether
-- others have become ready by that.
local function flow_tell(found, state, only)
    local some = found and state == 'd' and #found > 1 and not only
    for _, one in ipairs(some and flow_plain(found) or found or {}) do
        if not only or only[one[2]] then
            flow_tied(one[1], one[2], state)
        end
    end
    return found and flow_go_on()
end
