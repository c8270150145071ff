-- purge: drop the first jobs of a state
-- KEYS   ready delayed dead jobs records stats
-- ARGV   state limit
-- reply  how many were dropped; fewer than the limit: the state is empty

-- @include number
-- @include drop

local sets = { ready = ready, delayed = delayed, dead = dead }
local most = whole(limit, 1, 500)
if not sets[state] or not most then
    return redis.error_reply('ERR purge: ready, delayed or dead; a limit of 1 to 500')
end
return drop(sets[state], most, 'purged')
