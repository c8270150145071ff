-- locate: in which sets is an id, at one moment?
-- KEYS   ready delayed dead held jobs waiting
-- ARGV   id
-- reply  for each of ready, delayed, dead, held, waiting, jobs: 1 where it is there, else 0
--
-- held  the set of a token; a caller that knows no token passes a key that does not exist

local reply = {}
for i, set in ipairs({ ready, delayed, dead, held, waiting }) do
    reply[i] = redis.call('ZSCORE', set, id) and 1 or 0
end
reply[6] = redis.call('HEXISTS', jobs, id)
return reply
