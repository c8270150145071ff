-- purge: drop the first jobs of a state
-- KEYS   ready delayed dead jobs records stats done kept waiting
-- ARGV   state limit
-- reply  how many were dropped; fewer than the limit: the state is empty

-- @include now
-- @include number
-- @include drop
-- @include done
-- @include share
-- @include guard_fair

local sets = { ready = ready, delayed = delayed, dead = dead, waiting = waiting }
local most = whole(limit, 1, LATER_BATCH_MAX)
if not (sets[state] or state == 'done') or not most then
    return redis.error_reply('ERR purge: ready, delayed, dead, waiting or done; '
        .. 'a limit of 1 to LATER_BATCH_MAX')
end
if state == 'done' then
    guard(most, { done }, { kept })
    return drop_done(most)
end

if state == 'ready' then
    guard_fair()
end
local function leave_groups(ids, texts)
    local shared = fair(texts, true)
    if shared then
        shared.leave(ids, texts)
    end
end
return drop(sets[state], most, 'purged', state == 'ready' and leave_groups)
