-- lock_free: give a lock back, to the client that has waited longest
-- KEYS   lock lock_wake
-- ARGV   token
-- reply  1; 0 when it is not, or no longer, this token's
--
-- A pass is given back in the same way, in place of the token.

-- @include pass

local held = redis.call('HMGET', lock, 'token', 'pass')
if held[1] ~= token and held[2] ~= token then
    return 0
end
pass_on(token)
return 1
