-- looker: may this host look after its queues, for all hosts that serve the same ones?
-- KEYS   lookers
-- ARGV   host seconds most
-- reply  1 or 0, the present, how many hosts wait for a post
--
-- host     1 to 320 bytes
-- seconds  the post is its own for so long unless it asks again, at most 60; 0: it gives it up
-- most     how many hosts may look, 1 to 100
--
-- The score of a host that may look is when its post ends. One that waits has that as a negative
-- number, two minutes from its last question. So what is over lies between -now and now.

-- @include now
-- @include number

local life, room = number(seconds, 0, 60), whole(most, 1, 100)
if not life or not room or #host < 1 or #host > 320 then
    return redis.error_reply('ERR looker: host is 1 to 320 bytes, seconds 0 to 60, most 1 to 100')
end
local present, latest = string.format('%.6f', now), string.format('%.6f', now + 120)
local over = redis.call('ZRANGEBYSCORE', lookers, '-' .. present, present, 'LIMIT', 0, 500)
if life == 0 then
    over[#over + 1] = host
end
-- First: a full Redis accepts a script that begins with ZREM.
redis.call('ZREM', lookers, '', unpack(over))
-- Posts that end later than anybody asks for are of a Redis whose clock was ahead.
local ends = tonumber(redis.call('ZSCORE', lookers, host) or 0)
local may = life > 0 and (ends > now or redis.call('ZCOUNT', lookers, 0, latest) < room)
if life > 0 then
    redis.call('ZADD', lookers, may and string.format('%.6f', now + life) or '-' .. latest, host)
    redis.call('PEXPIRE', lookers, 120000)
end
return { may and 1 or 0, present, redis.call('ZCOUNT', lookers, '-inf', 0) }
