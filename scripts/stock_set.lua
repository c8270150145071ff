-- stock_set: set how many of an item there are in all
-- KEYS   stock claims
-- ARGV   total
-- reply  how many are left
--
-- Claims already given stand: fewer than those leaves 0.

-- @include number

if not whole(total, 0, 1e15) then
    return redis.error_reply('ERR stock_set: a total is a whole number')
end
local claimed = redis.call('HLEN', claims)
redis.call('HDEL', stock, '') -- no field, see touch: a full Redis accepts a script that begins so
redis.call('HSET', stock, 'total', total)
return math.max(0, total - claimed)
