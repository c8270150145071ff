-- What must hold before the first write, since scripts do not roll back: at most 500 jobs a call
-- (unpack takes 7,999 values), and keys of the right type: counting another one's members fails.
local function guard(count, sets, hashes)
    if count > 500 then
        error({ err = 'ERR at most 500 jobs a call' })
    end
    for i = 1, #sets do
        redis.call('ZCARD', sets[i])
    end
    for i = 1, #hashes do
        redis.call('HLEN', hashes[i])
    end
end

-- Those of `hashes` to look at: all, or none where not one of these keys exists. One look for all
-- of them, since most queues have no attempts, crashes, errors …
local function only_if_any(hashes)
    return redis.call('EXISTS', unpack(hashes)) > 0 and hashes or {}
end
