-- lock_free: give a lock back, to who waits longest
-- KEYS   lock lock_wake
-- ARGV   token
-- reply  1; 0 when it is not, or no longer, this token's
--
-- A pass is given back likewise, in the place of a token.

-- @include pass

local held = redis.call('HMGET', lock, 'token', 'pass')
if held[1] ~= token and held[2] ~= token then
    return 0
end
pass_on(token)
return 1
