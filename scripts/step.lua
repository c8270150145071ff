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
local before = redis.call('ZCARD', ready) -- now nothing read after the first write has a wrong type

local only = #ARGV == 5 and ARGV[5]
-- @include chain
-- @include end_one
-- @include chain_on
local lost = {}
if not ended then
-- @inside settle
    local other
    lost, other = settle({ unpack(ARGV, 5) }, 'done')
    others = others or recorded -- it may have put jobs into `delayed`
    awake = awake or other -- by the end of these; they left a wake
end
-- A job that has become ready by this one, and is the first, need not go into `ready`.
local document = freed and not stopped and before == 0 and #freed <= 200
    and redis.call(beside and 'HSTRLEN' or 'HGET', jobs, freed)
if document and document ~= 0 then
    redis.call('ZADD', set, freed_score, freed)
    redis.call('ZADD', reserved, string.format('%.6f', now + seconds), token)
    if others then
        redis.pcall('ZREM', delayed, freed)
        redis.pcall('ZREM', dead, freed)
    end
    count(stats, 'reserved', 1)
    return { reply[1] .. ' ' .. freed_score, freed, freed_record, document }
end
-- @include chain_ready
awake = awake or freed
-- @include take_one
if not one then
-- @inside take_many
    take_many()
end
if #lost > 0 then
    reply[#reply + 1] = lost
end
return reply
