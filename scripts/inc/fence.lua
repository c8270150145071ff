-- A queue of several shards has a plan, `EPOCH COUNT FORMER…`, in the key `shards` of the queue
-- itself. In a shard the same key is a fence: the highest EPOCH that a call has shown there. A call
-- with an older plan gets an error before it does anything. So nobody pushes an id by an old plan
-- where somebody has looked for it by a newer one. If epoch is '', the caller knows of no shards,
-- and nothing is compared.
local function fence(epoch)
    local here = epoch ~= '' and (redis.call('GET', shards) or '0')
    local at = here and tonumber(string.match(here, '^%d+') or 0)
    if not at or at == tonumber(epoch) then
        return nil
    end
    -- With a space it is a plan. If it is older than the caller's, Redis has lost the newer one.
    if at > tonumber(epoch) or string.find(here, ' ', 1, true) then
        return redis.error_reply('RESHARD ' .. here)
    end
    redis.call('SET', shards, epoch)
    return nil
end
