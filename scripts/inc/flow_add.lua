-- @include number
-- @include spell
-- @include flow

-- What flow_push and flow_join have in common: jobs that are new to a flow. `flow_list` has them,
-- with members id, step, after, when, due.

local flow_list, flow_waiters, flow_added = {}, {}, {}

local function is_name(text)
    return #text <= 64 and string.find(text, '^[%w_.-]+$')
end

-- Returns what is wrong with a job, but for what only one of the scripts takes.
local function flow_wrong(job)
    local steps, seconds = 0, nil
    if job.after ~= '' and job.after ~= '*' then
        for step in string.gmatch(job.after, '[^,]+') do
            steps = steps + (is_name(step) and 1 or 1000)
        end
    end
    if job.due ~= '' then
        seconds = number(string.match(job.due, '^%+?(.*)$'), 0, 1e11)
    end
    return (#job.id > LATER_ID_MAX or not string.find(job.id, '^[!-~]+$'))
            and 'an id is 1 to LATER_ID_MAX printable characters without space'
        or job.step ~= '' and not is_name(job.step) and 'a step is 1 to 64 of A-Z a-z 0-9 _ . -'
        or steps > LATER_AFTER_MAX
            and 'it waits for at most LATER_AFTER_MAX steps, with commas between'
        or not (job.when == 'done' or job.when == 'ended' or job.when == 'failed')
            and 'when is done, ended or failed'
        or job.due ~= '' and (not seconds or string.byte(job.due) ~= 43 and seconds > 0
            and seconds < 1e9) and 'a time is seconds from 1970, a delay is +seconds'
end

-- What is wrong with the call itself?
local function flow_misnamed()
    return (not is_name(name) or flow ~= flow_key(name) or not whole(close, 0, 1)
        or keep ~= '' and not number(keep, 0, 1e9) or #flow_list > LATER_FLOW_BATCH)
        and 'a name is 1 to 64 of '
        .. 'A-Z a-z 0-9 _ . -, close is 0 or 1, keep is seconds or empty; '
        .. 'at most LATER_FLOW_BATCH jobs a call'
end

-- Steps of one name, and waiters of one step.
local function flow_steps()
    for i, job in ipairs(flow_list) do
        local other = job.step ~= '' and redis.call('HGET', flow, 's:' .. job.step)
        if other and other ~= job.id then
            return 'job ' .. i .. ': step ' .. job.step .. ' is job ' .. other
        end
        for step in string.gmatch(job.after ~= '' and job.after or ',', '[^,]+') do
            local ids = flow_waiters[step] or redis.call('HGET', flow, 'a:' .. step) or ''
            if not string.find(' ' .. ids .. ' ', ' ' .. job.id .. ' ', 1, true) then
                ids = ids == '' and job.id or ids .. ' ' .. job.id
            end
            flow_waiters[step] = ids
            local _, spaces = string.gsub(ids, ' ', '')
            if spaces >= LATER_WAITERS_MAX then
                return 'job ' .. i .. ': LATER_WAITERS_MAX jobs wait for ' .. step
            end
        end
    end
end

-- Makes room for the flow if an ended one has its name. Returns whether it is there already and
-- open (`0`), closed (`1`) or new (nil); then what is wrong.
local function flow_open()
    guard(0, {}, { base .. 'fair' }) -- of jobs that become ready
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
            for _, job in ipairs(flow_list) do
                known = known + redis.call('HEXISTS', flow, 'j:' .. job.id)
            end
            if known < #flow_list then
                return '1', 'CLOSED'
            end
        end
    end
    if not told[1] and redis.call('ZCOUNT', flows, 'inf', 'inf') >= 100000 then
        return nil, 'there are 100000 open flows'
    elseif before + #flow_list > 1000000 then
        return nil, 'a flow has at most 1000000 jobs'
    end
    return told[1], flow_steps()
end

-- A job is new to the flow, in this state. queue: the one that it lies in, if that is another one.
local function flow_add(job, state, queue, at)
    if job.step == '' and job.after == '' and not queue then
        flow_added[#flow_added + 1] = { id = job.id, state = state, star = '' }
        return
    end
    flow_added[#flow_added + 1] = { id = job.id, state = state,
        step = job.step ~= '' and job.step or '-', when = job.when,
        delay = job.due ~= '' and job.due or '-', after = job.after ~= '' and job.after or '-',
        star = job.after == '*' and '*' or '', queue = queue, number = at }
end

local function flow_shut()
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

local function put(key, fields)
    for i = 1, #fields, 1000 do
        redis.call('HSET', key, unpack(fields, i, math.min(i + 999, #fields)))
    end
end

-- The flow has these jobs from now on. `closed` is what flow_open returned; shut: '1' if there will
-- be no others.
local function flow_enter(closed, shut)
    if not closed then
        redis.call('HSET', flow, 'closed', '0', 'made', spell(now), 'keep',
            keep ~= '' and keep or redis.call('HMGET', stats, 'flows_kept')[1] or flow_kept)
    end
    local fields, sums, unnamed, named = {}, {}, {}, {}
    for _, job in ipairs(flow_added) do
        local n, total, kind = #fields, job.star .. 'total', job.star .. counted[job.state]
        fields[n + 1], fields[n + 2] = 'j:' .. job.id, flow_text(job)
        sums[total], sums[kind] = (sums[total] or 0) + 1, (sums[kind] or 0) + 1
        if job.step and job.step ~= '-' then
            fields[n + 3], fields[n + 4] = 's:' .. job.step, job.id
            named[#named + 1] = job.step
        end
    end
    put(flow, fields)
    fields = {}
    for step, ids in pairs(flow_waiters) do
        fields[#fields + 1], fields[#fields + 2] = 'a:' .. step, ids
        if step ~= '*' and redis.call('HEXISTS', flow, 's:' .. step) == 0 then
            unnamed[#unnamed + 1], unnamed[#unnamed + 2] = step, '1'
        end
    end
    put(flow, fields)
    put(unknown, unnamed)
    if #named > 0 then
        redis.call('HDEL', unknown, unpack(named))
    end
    for field, sum in pairs(sums) do
        redis.call('HINCRBY', flow, field, sum)
    end
    for _, job in ipairs(flow_added) do
        if job.state == 'x' and job.star == '' then
            redis.pcall('ZADD', flow .. ':failed', 'NX', spell(now), job.id)
        end
        if job.state == 'w' then
            flow_queue[#flow_queue + 1] = { flow, job.id }
        elseif job.step or job.state == 'x' then
            flow_ask(flow, job)
        end
    end
    if shut == '1' and closed ~= '1' then
        flow_shut()
    end
    flow_ended[flow] = true
    flow_go_on()
end
