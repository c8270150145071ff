-- resume: end a pause
-- KEYS   ready wake paused
-- ARGV   none
-- reply  1 when it was paused, else 0

-- @include guard
-- @include wake
-- @include tell_host

guard(0, { ready }, {})
local ended = redis.call('DEL', paused)
leave_wake()
tell_host()
return ended
