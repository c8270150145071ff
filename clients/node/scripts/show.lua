-- show: look at jobs by their ids
-- KEYS   ready delayed dead jobs records
-- ARGV   (id)...
-- reply  for each id: state ('' = no such job), score, record, document
--
-- The score of a reserved job is '': it is under a token, which the id does not tell.

-- From its head, by scripts/expand.awk:
if #KEYS ~= 5 then
    return redis.error_reply('ERR usage: show: KEYS ready delayed dead jobs records ARGV (id)...')
end
local ready, delayed, dead, jobs, records = unpack(KEYS)

-- The state of an id that has a document.
local function where(id)
    if redis.call('ZSCORE', ready, id) then
        return 'ready'
    elseif redis.call('ZSCORE', delayed, id) then
        return 'delayed'
    elseif redis.call('ZSCORE', dead, id) then
        return 'dead'
    end
    return 'reserved'
end

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
