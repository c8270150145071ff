-- stock_set: set how many of an item there are in all
-- KEYS   stock claims
-- ARGV   total
-- reply  how many are left
--
-- Claims that were given stay. If the total is lower than their number, 0 are left.

-- @include number

if not whole(total, 0, 1e15) then
    return redis.error_reply('ERR stock_set: a total is a whole number')
end
local claimed = redis.call('HLEN', claims)
redis.call('HDEL', stock, '') -- a full Redis accepts a script that begins so; no field: see touch
redis.call('HSET', stock, 'total', total)
return math.max(0, total - claimed)
