-- ack: jobs are done
-- KEYS   reserved jobs attempts crashes interrupts priorities errors stats
-- ARGV   (member)...
-- reply  the positions (from 1) of members that are LOST
--
-- A repeat answers LOST and changes nothing.

-- @include settle

return settle(ARGV, 'done')
