-- A queue of several shards has a plan, `EPOCH COUNT FORMER…`, in the key `shards` of the queue
-- itself. In a shard the same key is a fence: the greatest EPOCH that a call has shown there. Who
-- comes with an older plan is told so, before anything was done; so nobody pushes an id by an old
-- plan where somebody has looked for it by a newer one. '' = the caller knows nothing of shards.
local function fence(epoch)
    local here = epoch ~= '' and (redis.call('GET', shards) or '0')
    local at = here and tonumber(string.match(here, '^%d+') or 0)
    if not at or at == tonumber(epoch) then
        return nil
    end
    -- A plan that is older than its reader's: Redis has lost the newer one.
    if at > tonumber(epoch) or string.find(here, ' ', 1, true) then
        return redis.error_reply('RESHARD ' .. here)
    end
    redis.call('SET', shards, epoch)
    return nil
end
