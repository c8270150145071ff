-- cron_move: pause, resume or drop schedules, or say that a configuration has them
-- KEYS   cron crontab
-- ARGV   what (name with)...
-- reply  one answer a name: 1; 0 where there is no such schedule
--
-- what  pause; resume, with the next tick ('' = none); seen, with the origin of who has it; drop, with
--       the origin whose configuration no longer has it, 0 if it is not from there, or another one
--       has it still ('' = drop it in any case)
--
-- If a schedule is paused when its tick has come but is not fired yet, the tick counts as missed.
-- Further ticks that have come meanwhile are not counted, since scripts know no calendars.

-- @include now
-- @include guard
-- @include crontab
-- @include origins

local total = (#ARGV - 1) / 2
if not (what == 'pause' or what == 'resume' or what == 'drop' or what == 'seen') then
    return redis.error_reply('ERR cron_move: pause, resume, drop or seen')
end
for i = 1, total do
    local at = ARGV[2 * i + 1]
    if what == 'resume' and at ~= '' and not whole(at, 1, 1e12) then
        return redis.error_reply('ERR cron_move: the next tick is a UNIX time')
    end
end
guard(total, { cron }, { crontab })

-- Returns the state of a schedule that is paused now and had its next tick at `at`.
local function rested(state, at)
    if at and at <= now and value_of(state, 'asked') ~= string.format('%.0f', at) then
        state = with_value(state, 'tick', string.format('%.0f', at))
        state = with_value(state, 'outcome', 'missed')
        state = with_value(state, 'missed', string.format('%.0f', count_of(state, 'missed') + 1))
    end
    return with_value(with_value(state, 'asked', nil), 'paused', '1')
end

-- Takes an origin out of the state. Returns whether that was the last one.
local function let_go(name, state, origin)
    local others = others_of(state, origin)
    local from = value_of(state, 'origin')
    if from == origin and others[1] then
        state = with_value(state, 'origin', string.match(others[1], '^(.*)@'))
    elseif from == origin then
        return true
    end
    state = with_value(state, 'by', others[1] and table.concat(others, ' '))
    redis.call('HDEL', crontab, name .. ':state') -- first: a full Redis accepts it
    redis.call('HSET', crontab, name .. ':state', state)
    return false
end

local function move(name, with)
    local definition, state = schedule_of(name)
    if not definition or what == 'drop' and with ~= '' and not let_go(name, state, with) then
        return 0
    end
    if what == 'drop' then
        redis.call('HDEL', crontab, name, name .. ':state')
        redis.call('ZREM', cron, name)
        return 1
    end
    local at = next_of(name, state)
    redis.call('HDEL', crontab, name .. ':state') -- first: a full Redis accepts it
    if what == 'seen' then
        state = seen_by(state, with)
    elseif what == 'pause' then
        state = with_value(rested(state, at), 'held', nil)
        redis.call('ZADD', cron, 'inf', name)
    else
        for _, tag in ipairs({ 'paused', 'asked', 'held' }) do
            state = with_value(state, tag, nil)
        end
        redis.call('ZADD', cron, with ~= '' and with or 'inf', name)
    end
    redis.call('HSET', crontab, name .. ':state', state)
    return 1
end

local answers = {}
for i = 1, total do
    answers[i] = move(ARGV[2 * i], ARGV[2 * i + 1])
end
return answers
