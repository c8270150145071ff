-- @include called

-- Mostly nobody waits, and then most of the commands below are not needed.
local line_empty = redis.call('ZCARD', line_waiting) == 0
local line_sound = false

-- If `free` places are free, is it the turn of the job that `waiter` names? Jobs that wait, and
-- those that were called in the last second, come first if they have waited longer. '' is
-- somebody who never waits in the line.
local function is_turn(free)
    line_sound = line_sound or redis.call('ZCARD', line_due) -- fails on a wrong type before a write
    if free <= 0 or waiter == '' or line_empty then
        return free > 0
    end
    local since = spell(math.abs(tonumber(redis.call('ZSCORE', line_waiting, waiter) or now)))
    local before = redis.call('ZCOUNT', line_waiting, '(0', '(' .. since)
    return free > before and free > before + called('(-' .. since)
end

-- How many in the line came after `waiter`, as text; nil if it is not there.
local function behind()
    local score = waiter ~= '' and redis.call('ZSCORE', line_waiting, waiter)
    return score and string.format('%d', redis.call('ZCOUNT', line_waiting,
        '(' .. spell(math.abs(tonumber(score))), '+inf')) or nil
end

-- The job has what it waited for.
local function leave_turn()
    if not line_empty then
        redis.call('ZADD', line_due, spell(now), '')
        leave_line(waiter)
    end
end
