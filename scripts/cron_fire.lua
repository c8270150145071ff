-- cron_fire: push the job of a tick, and move its schedule to the next, in one step
-- KEYS   cron crontab ready delayed dead jobs records wake paused stats
-- ARGV   name expected digest tick following missed delay
-- reply  what came of it, the job's id or '', the present, seconds until the next tick of all
--        ('' = none)
--
-- It acts only if `expected` is the schedule's next tick and has come, and `digest` is the SHA-1 of
-- its definition. Otherwise it answers MOVED: somebody else has fired the tick, or the schedule was
-- changed. So a tick is pushed once however many callers there are, and no host's clock can be
-- early.
--
-- tick       what to push: `expected`, or a later one that has come; '' = none
-- following  the tick after that; '' = there is none; `?`: the caller cannot read the schedule, and
--            has no tick
-- missed     how many ticks are left out, to be counted
-- delay      seconds after the tick at which the job is due
--
-- FIRED: the job cron:NAME:TICK was pushed. With all other answers it was not: SKIPPED: its last
-- job stands in the way (`overlap`); EXISTS: there is a job of this id; FULL: as in push; MISSED:
-- tick is ''; STALE: the schedule came from a configuration, and none has it any more; OVER: it has
-- pushed as many as its `limit`; PLACED: `expected` was no tick, but the question which is the next
-- (cron_put), and `following` is; HELD: `following` is `?`, so the tick is held (tag `held`), and
-- comes again in LATER_CRON_HELD seconds. Then a laterd may read it, or somebody has changed it.

-- @include now
-- @include guard
-- @include record
-- @include crontab
-- @include place
-- @include where
-- @include count
-- @include expiring
-- @include share
-- @include guard_fair

local at = whole(expected, 0, 1e12)
local holds = tick == '' and following == '?'
local ticks, moves = whole(tick, 0, 1e12), whole(following, 0, 1e12)
local left_out, wait = whole(missed, 0, 1e12), number(delay, 0, 1e9)
if not at or not left_out or not wait or tick ~= '' and (not ticks or ticks < at or ticks > now)
    or following ~= '' and not holds and (not moves or moves <= (ticks or at)) then
    return redis.error_reply('ERR cron_fire: expected <= tick <= the present, tick < following; '
        .. 'missed and delay are numbers')
end
guard(1, { cron, ready, delayed, dead }, { crontab, jobs, stats })

local function until_next()
    local first = redis.call('ZRANGE', cron, 0, 0, 'WITHSCORES')[2]
    return first and first ~= 'inf' and string.format('%.6f', math.max(0, first - now)) or ''
end
local function answer(outcome, id)
    return { outcome, id, string.format('%.6f', now), until_next() }
end

local definition, state = schedule_of(name)
if at > now or not definition or next_of(name, state) ~= at
    or redis.sha1hex(definition) ~= digest then
    return answer('MOVED', '')
end

-- A schedule of a configuration rests if no host has named it for a while. After a week it is
-- dropped.
local seen = number(value_of(state, 'seen') or '', 0, 1e12) or now
local stale = string.find(value_of(state, 'origin') or '', '^config:') and now - seen > LATER_CRON_STALE
if stale and now - seen > 604800 then
    redis.call('HDEL', crontab, name, name .. ':state')
    redis.call('ZREM', cron, name)
    return answer('STALE', '')
end

if holds then
    redis.call('HSET', crontab, name .. ':state', with_value(state, 'held', expected))
    redis.call('ZADD', cron, math.floor(now) + LATER_CRON_HELD, name)
    return answer('HELD', '')
end

local asked = value_of(state, 'asked')
state = with_value(with_value(state, 'asked', nil), 'held', nil)
if asked == expected and tick == '' and left_out == 0 then
    local goes_on = following ~= '' and not is_over(definition, state)
    redis.call('ZADD', cron, goes_on and following or 'inf', name)
    redis.call('HSET', crontab, name .. ':state', state)
    return answer('PLACED', '')
end

local head = head_of(definition)
local last = value_of(state, 'id')
local last_state = last and redis.call('HEXISTS', jobs, last) == 1 and where(last) or ''
local waiting = last_state == 'ready' or last_state == 'delayed'

-- Why the tick is not pushed, or nil.
local function obstacle(id)
    local overlap = value_of(head, 'overlap')
    local limit = tonumber(redis.call('HGET', stats, 'max_jobs') or 0) or 0
    if stale then
        return 'STALE'
    elseif is_over(definition, state) then
        return 'OVER'
    elseif tick == '' then
        return 'MISSED'
    elseif redis.call('HEXISTS', jobs, id) == 1 then
        return 'EXISTS'
    elseif overlap == 'skip' and (waiting or last_state == 'reserved')
        or overlap == 'queue' and waiting then
        return 'SKIPPED'
    elseif limit > 0 and redis.call('HLEN', jobs) >= limit then
        return 'FULL'
    end
    return nil
end

-- Drops the last job, which still waits: the new one takes its place.
local function replace_last()
    redis.call('ZREM', last_state == 'ready' and ready or delayed, last)
    local notes = records_of({ last })
    local shared = last_state == 'ready' and fair(notes, true)
    if shared then
        shared.leave({ last }, notes)
    end
    redis.call('HDEL', jobs, last)
    keep_records({ last }, { '' })
    count(stats, 'cancelled', 1)
end

local function push(id)
    local priority = whole(value_of(head, 'priority') or '', -100, 100) or 0
    local due, life = ticks + wait, number(value_of(head, 'expires_in') or '', 0, 1e9)
    local document = string.sub(definition, #head + 2)
    if life then
        document = expiring(document, due + life) or document
    end
    local group = string.match(value_of(head, 'group') or '', '^[!-z|~]+$')
    group = group and #group <= LATER_GROUP_MAX and group
    guard_fair(group)
    redis.call('HSET', jobs, id, document) -- refused by a full Redis
    if value_of(head, 'overlap') == 'replace' and waiting then
        replace_last()
    end
    local soon, notes = {}, { (priority ~= 0 and 'p=' .. priority .. '\n' or '')
        .. (group and 'q=0 ' .. group .. '\n' or '') }
    if not (wait > 0 and due > now) then
        soon = { now + 0.000001 - priority * 1000000, id }
        local shared = group and fair() or fair(notes)
        if shared then
            shared.place(soon, notes)
        end
    end
    if notes[1] ~= '' then
        keep_records({ id }, notes)
    end
    place(soon, soon[1] and {} or { due, id })
    count(stats, 'pushed', 1)
end

local function add(tag, n)
    if n > 0 then
        state = with_value(state, tag, string.format('%.0f', count_of(state, tag) + n))
    end
end

local id = tick ~= '' and 'cron:' .. name .. ':' .. tick or ''
local outcome = obstacle(id) or 'FIRED'
if outcome == 'FIRED' then
    push(id)
    state = with_value(state, 'id', id)
end
add('fired', outcome == 'FIRED' and 1 or 0)
add('skipped', (outcome == 'SKIPPED' or outcome == 'FULL') and 1 or 0)
add('missed', left_out + (outcome == 'STALE' and tick ~= '' and 1 or 0))
state = with_value(state, 'tick', tick ~= '' and tick or expected)
state = with_value(state, 'outcome', string.lower(outcome))
local goes_on = following ~= '' and not is_over(definition, state)
redis.call('ZADD', cron, goes_on and following or 'inf', name)
redis.call('HSET', crontab, name .. ':state', state)
if outcome == 'FULL' then
    redis.pcall('HINCRBY', stats, 'refused', 1)
end
return answer(outcome, outcome == 'FIRED' and id or '')
