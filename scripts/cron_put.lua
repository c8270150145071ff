-- cron_put: make a schedule, or change it
-- KEYS   cron crontab
-- ARGV   name definition following origin
-- reply  PUT; SAME: it was so already; or AGAIN: `following` has passed, or is not after the last tick.
--        Then the present, the last tick ('' = none)
--
-- following  the first tick after the present and after the last tick; '' = there is none; `?`: the
--            caller knows no calendars. Then a laterd is asked, by the next second as its tick (tag
--            `asked`), unless the definition is the same
-- origin     `set`, or `config:HOST:ID` if that laterd has just seen the schedule in its
--            configuration
--
-- A paused schedule stays paused. A tick that has come and is not fired yet stays as well and is
-- fired by the new definition, so that an edit loses no tick; one that is held (cron_fire) comes at
-- once. A schedule that has pushed as many jobs as its `limit` has no next tick, whatever `following`
-- says.

-- @include now
-- @include guard
-- @include crontab
-- @include origins

local asks = following == '?'
local at = not asks and following ~= '' and whole(following, 1, 1e12) or 'inf'
if not is_name(name) or following ~= '' and not asks and at == 'inf'
    or not string.find(definition, '\n\n', 1, true) then
    return redis.error_reply('ERR cron_put: a name is 1 to 64 of A-Z a-z 0-9 _ . -, following is a '
        .. 'UNIX time or ?, a definition is lines, an empty one and a document')
end
guard(1, { cron }, { crontab })

local old, state = schedule_of(name)
local last = whole(value_of(state, 'tick') or '', 0, 1e12)
local present = string.format('%.6f', now)
if asks then
    at = math.max(math.floor(now), last or 0) + 1
end
-- The call may take a few seconds to get here. A tick that has become due meanwhile is still fired.
if at ~= 'inf' and (at < now - 5 or last and at <= last) then
    return { 'AGAIN', present, last and tostring(last) or '' }
end
local score = next_of(name, state)
state = seen_by(with_value(with_value(state, 'origin', origin), 'held', nil), origin)
if is_over(definition, state) then
    at = 'inf'
end
local same = old == definition
local moves
if value_of(state, 'paused') then
    moves, at = true, 'inf'
elseif asks then
    moves = not score or not same and score > now
else -- even for the same text: zone data may have changed
    moves = not score or score > now and (not same or at ~= 'inf' and at > now)
end
if moves then
    state = with_value(state, 'asked', asks and at ~= 'inf' and string.format('%.0f', at) or nil)
end
redis.call('HSET', crontab, name, definition, name .. ':state', state)
redis.call('ZADD', cron, moves and at or score, name)
return { same and 'SAME' or 'PUT', present, last and tostring(last) or '' }
