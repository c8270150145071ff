-- @include called

-- Enters the job that `waiter` names into the line; it keeps the place that it has there. If `due`
-- is '', it was called and does not come: it is taken out, unless it has come back meanwhile.
-- Then calls as many jobs as there is `room` for, and returns them; the caller makes them due. One
-- that has not come in time is called once more, since its call may have been lost with the caller;
-- and after a minute for the last time, when it leaves the line. As many more are called as have
-- not come while the line stood still: they may be of a queue that nobody serves. While it moves,
-- more would only come to be refused.
local function line(room, opens)
    local at = due ~= '' and number(due, 0, 1e11) or due == '' and 0
    local from = number(since, 0, 1e11)
    if not at or not from or #waiter > 300 or not room then
        return redis.error_reply('ERR line: due and since are times; a waiter has up to 300 bytes')
    end
    from = from > 0 and from < now and from or now
    redis.call('ZCARD', line_due) -- fails on a wrong type before the first write
    redis.call('ZREM', line_waiting, '') -- first: a full Redis accepts a script that begins with it
    local score = waiter ~= '' and tonumber(redis.call('ZSCORE', line_waiting, waiter) or 0)
    if score and due ~= '' then
        redis.call('ZADD', line_waiting, spell(score == 0 and from or math.abs(score)), waiter)
        redis.call('ZADD', line_due, due, waiter)
        redis.call('ZREM', line_due, '>' .. waiter)
        redis.call('PEXPIRE', line_waiting, 604800000) -- a week: each looks within four days
        redis.call('PEXPIRE', line_due, 604800000)
    elseif score and score < 0 then
        leave_line(waiter)
    end
    local kept, late, again, gone, there = called('-inf')
    local most = room > kept and math.min(room - kept + late, 100) or 0
    local first = most > 0 and redis.call('ZRANGEBYSCORE', line_waiting, '(0', '+inf', 'WITHSCORES',
        'LIMIT', 0, most) or {}
    local reply = { redis.call('ZCOUNT', line_waiting, '(0', '+inf') - #first / 2, opens }
    local function call(job, came)
        reply[#reply + 1] = job
        reply[#reply + 1] = redis.call('ZSCORE', line_due, job) or '0'
        reply[#reply + 1] = came
    end
    local function since_of(job)
        return spell(-redis.call('ZSCORE', line_waiting, job))
    end
    for i = 1, #first, 2 do
        local came = spell(tonumber(first[i + 1]))
        call(first[i], came)
        redis.call('ZADD', line_waiting, '-' .. came, first[i])
        redis.call('ZADD', line_due, spell(now + 1), '>' .. first[i])
    end
    for _, job in ipairs(again) do
        call(job, since_of(job))
        local till = redis.call('ZSCORE', line_due, '>' .. job)
        redis.call('ZADD', line_due, spell(1 - till), '>' .. job)
    end
    for _, job in ipairs(gone) do
        call(job, since_of(job))
        leave_line(job)
    end
    -- Somebody has to look whether those that were called come, but not as soon as it opens.
    if reply[1] == 0 and there > #gone then
        reply[1], reply[2] = there - #gone, tonumber(opens) == 0 and '1' or opens
    end
    return reply
end
