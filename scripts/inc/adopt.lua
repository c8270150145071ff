-- An id for a document: the SHA-1 of its bytes; SHA1-2, SHA1-3 … where that is known, or was given
-- by this very call: other bytes may have the same SHA-1, and bad ids the same document. The search
-- is bounded; beyond it the microsecond makes the id.
local given = {}
local function adopt(document)
    local sha = redis.sha1hex(document)
    local n, id = given[sha] or 0, nil
    repeat
        n = n + 1
        id = n == 1 and sha or sha .. '-' .. n
    until n > 100 or redis.call('HEXISTS', jobs, id) == 0
    given[sha] = n
    return n <= 100 and id or sha .. '-' .. string.format('%.0f', now * 1000000 + n)
end
