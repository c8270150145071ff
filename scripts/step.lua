-- step: jobs are done, and the first ready ones are handed out under another token
-- KEYS   ready delayed reserved held dead jobs records wake paused stats unique fresh
-- ARGV   new_token lease limit bytes (id)...
-- reply  that of reserve; if ids are LOST, then one element more: a list of their positions
--
-- This is ack and reserve in one call, for who takes jobs one at a time: it costs half. `held` is
-- the set of the token whose jobs are done. The arguments but the ids are those of reserve, and
-- `fresh` is the set of new_token. A repetition answers an error, as that of a reserve; what became
-- of the jobs, the ack of each of them says.

local token, set, few = new_token, fresh, false
-- @include take
redis.call('ZCARD', ready) -- now nothing is of a wrong type that is read after the first write

local only = #ARGV == 5 and ARGV[5]
-- @include end_one
local lost = {}
if not ended then
-- @inside settle
    local freed
    lost, freed = settle({ unpack(ARGV, 5) }, 'done')
    others = others or recorded -- it may have put jobs into `delayed`
    awake = awake or freed -- by the end of these; they left a wake
end
-- @include take_one
if not one then
-- @inside take_many
    take_many()
end
if #lost > 0 then
    reply[#reply + 1] = lost
end
return reply
