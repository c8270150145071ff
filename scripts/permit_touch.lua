-- permit_touch: keep permits for ttl seconds from now
-- KEYS   running
-- ARGV   ttl (token)...
-- reply  the positions (from 1) of tokens that have no permit any more

-- @include now
-- @include number

local life = number(ttl, 0.001, 1e9)
if not life or #ARGV > 501 then
    return redis.error_reply('ERR permit_touch: ttl is seconds, 0.001 to 10^9; at most 500 tokens')
end
local kept, lost = {}, {}
for i = 2, #ARGV do
    if redis.call('ZSCORE', running, ARGV[i]) then
        kept[#kept + 1] = string.format('%.6f', now + life)
        kept[#kept + 1] = ARGV[i]
    else
        lost[#lost + 1] = i - 1
    end
end
if #kept > 0 then
    -- A full Redis accepts a script that begins with ZREM. It names no member: see touch.
    redis.call('ZREM', running, '')
    redis.call('ZADD', running, unpack(kept))
    if redis.call('PTTL', running) < life * 1000 then
        redis.call('PEXPIRE', running, math.ceil(life * 1000))
    end
end
return lost
