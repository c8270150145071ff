-- touch: renew the lease of a token
-- KEYS   reserved held
-- ARGV   lease (id)...
-- reply  the positions (from 1) of ids that are LOST
--
-- lease  seconds from now, 0.001 to 10^9; for all jobs of the token, if it holds one of these ids
--
-- The first write is a ZREM: a full Redis accepts that, and then the ZADD after it. The ZREM names
-- no member, so that the key is never gone in between: while its slot moves to another node of a
-- Cluster, the key could not be made again here.

-- @include now
-- @include number
-- @include guard
-- @include owned

local seconds = number(lease, 0.001, 1e9)
if not seconds then
    return redis.error_reply('ERR touch: a lease is seconds')
end
guard(#ARGV - 1, {}, {})
local ids, _, lost = owned({ unpack(ARGV, 2) })
if #ids > 0 then
    redis.call('ZREM', reserved, '')
    redis.call('ZADD', reserved, string.format('%.6f', now + seconds), token)
end
return lost
