-- What chain.lua has found is done now. A job that has become ready is left to the caller.
if ended and onward then
    redis.call('HSET', unpack(onward))
    if freed then
        redis.call('ZREM', waits, freed)
    end
else
    freed = nil
end
