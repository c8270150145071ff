-- show: look at jobs by their ids
-- KEYS   ready delayed dead jobs records done kept waiting
-- ARGV   (id)...
-- reply  for each id: state ('' = no such job), score, record, document
--
-- The score of a reserved job is '': it is in the set of a token, which its id does not tell. A job
-- that is done and kept has the state `done`, and as score the time until which it is kept.

-- @include where
-- @include done

local sets = { ready = ready, delayed = delayed, dead = dead, waiting = waiting }
local reply = {}
for i = 1, #ARGV do
    local id = ARGV[i]
    local document = redis.call('HGET', jobs, id)
    local state = document and where(id) or ''
    local score = sets[state] and redis.call('ZSCORE', sets[state], id) or ''
    local record = document and redis.call('HGET', records, id) or ''
    if not document and redis.call('ZSCORE', done, id) then
        state, score = 'done', redis.call('ZSCORE', done, id)
        record, document = done_of(id)
    end
    reply[#reply + 1] = state
    reply[#reply + 1] = score
    reply[#reply + 1] = record
    reply[#reply + 1] = document or ''
end
return reply
