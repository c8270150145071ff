-- Scripts do not roll back, so this is checked before the first write: at most
-- LATER_BATCH_MAX jobs a call
-- (unpack takes 7,999 values), and keys of the right type. ZCARD and HLEN fail on any other type.
local function guard(count, sets, hashes)
    if count > LATER_BATCH_MAX then
        error({ err = 'ERR at most LATER_BATCH_MAX jobs a call' })
    end
    for i = 1, #sets do
        redis.call('ZCARD', sets[i])
    end
    for i = 1, #hashes do
        redis.call('HLEN', hashes[i])
    end
end
