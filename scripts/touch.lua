-- touch: renew leases
-- KEYS   reserved
-- ARGV   lease (member)...
-- reply  the positions (from 1) of members that are LOST
--
-- lease  seconds from now, 0.001 to 10^9
--
-- The first write is a ZREM, which a full Redis accepts; the ZADD behind it is then accepted too. It
-- names no member, so that the key is never gone in between: while its slot moves to another node of
-- a Cluster, it could not be made again here.

-- @include now
-- @include number
-- @include guard
-- @include owned

local seconds = number(lease, 0.001, 1e9)
if not seconds then
    return redis.error_reply('ERR touch: a lease is seconds')
end
guard(#ARGV - 1, {}, {})
local held, _, _, lost = owned({ unpack(ARGV, 2) })
if #held > 0 then
    local renewed = {}
    local expiry = string.format('%.6f', now + seconds)
    for i = 1, #held do
        renewed[2 * i - 1], renewed[2 * i] = expiry, held[i]
    end
    redis.call('ZREM', reserved, '')
    redis.call('ZADD', reserved, unpack(renewed))
end
return lost
