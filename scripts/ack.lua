-- ack: jobs are done
-- KEYS   delayed reserved held jobs records unique stats
-- ARGV   (id)...
-- reply  the positions (from 1) of ids that are LOST
--
-- A repeat answers LOST and changes nothing. An id that was pushed so stays taken for its time.

-- @include settle

return settle(ARGV, 'done')
