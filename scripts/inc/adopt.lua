-- Makes an id for a document: the SHA-1 of its bytes, or SHA1-2, SHA1-3 … if that id is taken. It
-- may be taken by other bytes with the same SHA-1, or by the same document under another bad id,
-- even in this call. After 100 tries the id is made from the time in microseconds.
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
