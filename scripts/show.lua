-- show: look at jobs by their ids
-- KEYS   ready delayed dead jobs records
-- ARGV   (id)...
-- reply  for each id: state ('' = no such job), score, record, document
--
-- The score of a reserved job is '': it is under a token, which the id does not tell.

-- @include where

local sets = { ready = ready, delayed = delayed, dead = dead }
local reply = {}
for i = 1, #ARGV do
    local id = ARGV[i]
    local document = redis.call('HGET', jobs, id)
    local state = document and where(id) or ''
    reply[#reply + 1] = state
    reply[#reply + 1] = sets[state] and redis.call('ZSCORE', sets[state], id) or ''
    reply[#reply + 1] = document and redis.call('HGET', records, id) or ''
    reply[#reply + 1] = document or ''
end
return reply
