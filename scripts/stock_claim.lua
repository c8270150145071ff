-- stock_claim: claim one of an item
-- KEYS   stock claims
-- ARGV   who
-- reply  how it went (1 claimed, 0 claimed before by the same, -1 sold out), the claim's number
--
-- There are never more claims than the total, and one for each claimant. Numbers only grow; a
-- released one is not given again.

-- @include count

local before = redis.call('HGET', claims, who)
if before then
    return { 0, tonumber(before) }
end
local total = tonumber(redis.call('HGET', stock, 'total') or 0) or 0
if redis.call('HLEN', claims) >= total then
    return { -1, 0 }
end
redis.call('HDEL', claims, who)
local number = count(stock, 'given', 1)
redis.call('HSET', claims, who, number)
return { 1, number }
