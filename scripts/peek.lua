-- peek: look at the jobs of a state, in their order
-- KEYS   ready delayed held dead jobs records done kept waiting
-- ARGV   state offset limit
-- reply  for each job: id, score, record, document ('' = none)
--
-- state  ready, delayed, dead, waiting; reserved: what the token of `held` holds, in the order it had in
--        ready; done: the done jobs that are kept, those whose time ends first at the front
--
-- The reply has at most 500 jobs and about 1 MiB of documents, but at least one job. A member that
-- is its own document and was not adopted yet has the id ''.

-- @include number
-- @include done

local sets = { ready = ready, delayed = delayed, reserved = held, dead = dead, done = done,
    waiting = waiting }
local from, most = whole(offset, 0, 1e12), whole(limit, 1, LATER_BATCH_MAX)
if not sets[state] or not from or not most then
    return redis.error_reply('ERR peek: state, offset from 0, limit 1 to LATER_BATCH_MAX')
end

local reply, size = {}, 0
local found = redis.call('ZRANGE', sets[state], from, from + most - 1, 'WITHSCORES')
for i = 1, #found, 2 do
    local id = found[i]
    local record, document
    if state == 'done' then
        record, document = done_of(id)
    else
        record, document = redis.call('HGET', records, id) or '', redis.call('HGET', jobs, id)
    end
    if not document then
        document, id = id, ''
    end
    size = size + #document
    if i > 1 and size > 1048576 then
        break
    end
    reply[#reply + 1] = id
    reply[#reply + 1] = found[i + 1]
    reply[#reply + 1] = record
    reply[#reply + 1] = document
end
return reply
