-- An id for a member that is its own document: the SHA-1 of its bytes; SHA1-2, SHA1-3 … where
-- that is known. The search is bounded; beyond it the microsecond makes the id.
local function adopt(document)
    local sha = redis.sha1hex(document)
    if redis.call('HEXISTS', jobs, sha) == 0 then
        return sha
    end
    for n = 2, 100 do
        if redis.call('HEXISTS', jobs, sha .. '-' .. n) == 0 then
            return sha .. '-' .. n
        end
    end
    return sha .. '-' .. string.format('%.0f', now * 1000000)
end
