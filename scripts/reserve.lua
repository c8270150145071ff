-- reserve: hand out the first ready jobs under a token
-- KEYS   ready delayed reserved held dead jobs records wake paused stats (ahead)...
-- ARGV   token lease limit bytes deadline
-- reply  the present with some scores, then for each job: id, record, document
--
-- ahead     the wakes of queues that come before this one: if one is there, nothing is taken, and
--           after the present come ` ahead` and the numbers of those, from 1, each with a space
--           before it
-- token     16 characters [0-9a-z], new for each call; `held` is its set
-- lease     seconds the reservation holds, 0.001 to 10^9
-- limit     at most this many jobs, 1 to 500
-- bytes     at most this many bytes of documents, but at least one job. `N/beside`: the answer has
--           the length of each document in its place, and the caller reads them by HMGET, which
--           costs less for large ones
-- deadline  after this UNIX time nothing is taken and the wake is left to others; 0: none. It is for
--           clients that send this right behind a BLPOP, and may be gone when it runs. `N/idle`: the
--           client was idle when it sent this. If jobs came back lately that had not begun (return),
--           it gets only one: others may be idle, too
-- scores    after the present, each with a space before it: those that the first job, every 16th
--           after it (every 64th if there are more than 128 jobs) and the last had in ready, so that
--           a caller can tell how long each job has waited. After that of such a single one, if more
--           are ready: how many
-- record    what is kept beside the job, nil if there is nothing
--
-- A member without an entry in `jobs` is its own document, and is adopted. A member with an id that
-- no push accepts is adopted too: its document gets another id. In `held` each job has the score
-- that it had in ready.

local set = held
local singly = redis.call('HGET', stats, 'singly')
redis.call('ZCARD', reserved)
-- @include take

local idle = string.sub(deadline, -5) == '/idle'
local last = number(idle and string.sub(deadline, 1, -6) or deadline, 0, 1e11)
if not last then
    return redis.error_reply('ERR reserve: limit 1 to LATER_BATCH_MAX, bytes and deadline from 0')
end
stopped = stopped or last > 0 and now > last
local few = idle -- after most wakes there is one job and no other
singly = idle and singly and (tonumber(singly) or 0) > now
if singly then
    most = 1
end
-- @include first
if there == 0 then -- a busy worker asks queues that have nothing, most of the time
    redis.call('DEL', wake)
    return reply
end
local freed -- nothing becomes ready here
-- @include take_one
if not one then
-- @inside take_many
    take_many()
end
if singly and reply[2] and there > 1 then
    reply[1] = reply[1] .. ' ' .. string.format('%.0f', there - 1)
end
return reply
