-- stock_show: how many of an item are left
-- KEYS   stock claims
-- ARGV   none
-- reply  total, claimed, left; nothing where the item was never set

local total = redis.call('HGET', stock, 'total')
if not total then
    return {}
end
local claimed = redis.call('HLEN', claims)
return { tonumber(total), claimed, math.max(0, total - claimed) }
