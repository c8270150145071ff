-- pause: reserve hands out nothing until resume
-- KEYS   paused
-- ARGV   (word)...
-- reply  1 when that changed something, else 0: it was paused without an end before
--
-- The first word: the pause ends by itself after so many milliseconds, 1 to 10^11; without it, or
-- with 0 before a second one, only by resume. The second word is for people: who pauses, 1 to 64
-- printable ASCII characters without a space.
--
-- Pushing, acking and migrating go on. The key holds since when, until when (0: until resume) and
-- who.

-- @include number
-- @include now
-- @include tell_host

local ms, who = ARGV[1] or '0', ARGV[2] or ''
local least = #ARGV == 1 and 1 or 0
if #ARGV > 2 or not whole(ms, least, 1e11) or #who > 64 or string.find(who, '[^!-~]') then
    return redis.error_reply('ERR pause: nothing, or 1 to 100000000000 milliseconds, and who')
end
local endless = redis.call('PTTL', paused) == -1
local till = ms + 0 > 0 and now + ms / 1000 or 0
local held = string.format('%.3f %.3f %s', now, till, who)
redis.call('DEL', paused) -- after this write, a full Redis does not refuse the next one
if till > 0 then
    redis.call('SET', paused, held, 'PX', ms)
    tell_host()
    return 1
end
redis.call('SET', paused, held)
tell_host()
return endless and 0 or 1
