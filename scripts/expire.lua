-- expire: drop reserved jobs whose expires_at has passed
-- KEYS   reserved jobs records unique stats
-- ARGV   (member)...
-- reply  the positions (from 1) of members that are LOST

-- @include settle

return settle(ARGV, 'expired')
