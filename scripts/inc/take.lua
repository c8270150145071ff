-- @include now
-- @include number
-- @include recorded

-- What a reserve reads before anything is written. The arguments and the reply are those of
-- reserve.lua; `set` is that of the token.

local find = string.find
local beside = not find(bytes, '^%d+$') and string.match(bytes, '^(%d+)/beside$')
local most, budget = whole(limit, 1, LATER_BATCH_MAX), whole(beside or bytes, 0, 1e9)
local seconds = number(lease, 0.001, 1e9)
if #token ~= 16 or not find(token, '^[0-9a-z]+$') or not seconds then
    return redis.error_reply('ERR reserve: a token is 16 of [0-9a-z], a lease is seconds')
end
if not most or not budget then
    return redis.error_reply('ERR reserve: limit 1 to LATER_BATCH_MAX, bytes and deadline from 0')
end

-- One EXISTS tells most: is there an element in `wake`; is there anything of what most queues do
-- not have?
local there = redis.call('EXISTS', wake, set, set, paused, paused, delayed, delayed, dead, dead)
local awake, others = there % 2 == 1, there > 1
local stopped = others and redis.call('EXISTS', paused) == 1
if set ~= reserved .. ':' .. token or others and redis.call('EXISTS', set) == 1 then
    return redis.error_reply('ERR reserve: held is the set of a token that was not used before')
end
local reply = { clock[1] .. '.' .. string.sub('00000' .. clock[2], -6) }
if ahead and redis.call('EXISTS', unpack(ahead)) > 0 then
    stopped, reply[1] = true, reply[1] .. ' ahead'
    for i = 1, #ahead do
        if redis.call('EXISTS', ahead[i]) == 1 then
            reply[1] = reply[1] .. ' ' .. i
        end
    end
end
