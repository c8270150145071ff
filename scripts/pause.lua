-- pause: reserve hands out nothing until resume
-- KEYS   paused
-- ARGV   none
-- reply  1 when it was not paused before, else 0
--
-- Pushing, acking and migrating go on.

local fresh = 1 - redis.call('DEL', paused)
redis.call('SET', paused, 1)
return fresh
