-- ack: jobs are done
-- KEYS   delayed reserved held jobs records unique stats
-- ARGV   (id)...
-- reply  the positions (from 1) of ids that are LOST
--
-- A repetition answers LOST and changes nothing. If the push asked for it, the id stays taken for a
-- while (inc/stay.lua).

-- @told

local only = #ARGV == 1 and ARGV[1]
-- @include end_one
if ended then
    return {}
end
-- @include settle
return settle(ARGV, 'done')
