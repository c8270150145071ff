-- cron_look: list schedules
-- KEYS   cron crontab
-- ARGV   from limit
-- reply  the present, seconds until the next tick of all ('' = none), then for each: name, next
--        tick ('inf' = none), SHA-1 of the definition, its lines, lines of state
--
-- from   `due` for those whose tick has come; a rank from 0 on, in the order of the next tick; or
--        `=NAME`
-- limit  at most this many, 1 to 500; fewer if their definitions exceed 1 MiB

-- @include now
-- @include guard
-- @include crontab

local most = whole(limit, 1, LATER_BATCH_MAX)
local rank = whole(from, 0, 1e9)
if not most or not (rank or from == 'due' or string.sub(from, 1, 1) == '=') then
    return redis.error_reply('ERR cron_look: from is due, a rank or =NAME; '
        .. 'a limit is 1 to LATER_BATCH_MAX')
end
guard(most, { cron }, { crontab })

local names = {}
if rank then
    names = redis.call('ZRANGE', cron, rank, rank + most - 1, 'WITHSCORES')
elseif from == 'due' then
    names = redis.call('ZRANGEBYSCORE', cron, '-inf', now, 'WITHSCORES', 'LIMIT', 0, most)
else
    names[1] = string.sub(from, 2)
    names[2] = redis.call('ZSCORE', cron, names[1])
end

local first = redis.call('ZRANGE', cron, 0, 0, 'WITHSCORES')[2]
local reply = {
    string.format('%.6f', now),
    first and first ~= 'inf' and string.format('%.6f', math.max(0, first - now)) or '',
}
local size = 0
for i = 1, #names, 2 do
    local definition, state = schedule_of(names[i])
    if names[i + 1] and size < 1048576 then
        local place = #reply
        reply[place + 1], reply[place + 2] = names[i], value_of(state, 'held') or names[i + 1]
        reply[place + 3] = definition and redis.sha1hex(definition) or ''
        reply[place + 4] = definition and head_of(definition) or ''
        reply[place + 5] = state
        size = size + #(definition or '')
    end
end
return reply
