-- What chain.lua has found is done now. A job that has become ready is left to the caller. `what`:
-- the value of the one that is done.
if ended and onward then
    redis.call('HSET', unpack(onward))
    if lasting and what ~= 'null' then -- as in hand_on.lua
        redis.pcall('HSET', onward[1] .. ':values', lasting, what)
    end
    if freed then
        redis.call('ZREM', waits, freed)
    end
else
    freed = nil
end
