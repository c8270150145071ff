-- bury: reserved jobs become dead, with the reason
-- KEYS   delayed reserved held dead jobs records stats
-- ARGV   (id how error)...
-- reply  the positions (from 1) of ids that are LOST
--
-- how    ran: after an attempt; crashed: after one that killed its worker; unrun: without one
-- error  `"kind":…,"text":…,"host":…}`, or '' to keep the last error

-- @told
-- @include bury

local list, hows, whys = {}, {}, {}
for i = 1, #ARGV / 3 do
    list[i], hows[i], whys[i] = ARGV[3 * i - 2], ARGV[3 * i - 1], ARGV[3 * i]
    if not buried_how[hows[i]] then
        return redis.error_reply('ERR bury: how is ran, crashed or unrun')
    end
end
return (bury(list, hows, whys))
