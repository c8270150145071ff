-- expire: drop reserved jobs whose expires_at has passed
-- KEYS   delayed reserved held jobs records unique stats
-- ARGV   (id)...
-- reply  the positions (from 1) of ids that are LOST

-- @told
-- @include settle

return settle(ARGV, 'expired')
