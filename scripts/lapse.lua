-- lapse: the jobs of a token whose lease ran out become ready
-- KEYS   ready reserved held jobs records wake paused stats
-- ARGV   deadline reason
-- reply  how many
--
-- deadline  after this UNIX time nothing lapses; 0: none. This call may have been held up until its
--           caller's view of the lease is out of date.
-- reason    `"kind":"lapse",…}`, or '' to keep the last error
--
-- The lease is checked again: its holder may have touched it since migrate answered the token. A
-- job that has no document any more was ended under another token (inc/give_up.lua).

-- @include now
-- @include record
-- @include guard
-- @include wake
-- @include give_up
-- @include fail
-- @include backwards
-- @include share
-- @include guard_fair

local last = number(deadline, 0, 1e11)
if not last then
    return redis.error_reply('ERR lapse: a deadline is a time, from 0')
end
guard(0, { ready, held }, { jobs, stats })
local ends = tonumber(redis.call('ZSCORE', reserved, token) or now + 1)
if ends > now or (last > 0 and now > last) then
    return 0
end
guard_fair()
local ids = redis.call('ZRANGE', held, 0, 499)
if #ids > 0 then
    ids = give_up(ids)
end
if #ids == 0 then
    redis.call('ZREM', reserved, token)
    return 0
end
local soon, texts = {}, records_of(ids)
for i = 1, #ids do
    soon[2 * i - 1], soon[2 * i] = now + i / 1000000 - rank(texts[i]), ids[i]
    texts[i] = failed(texts[i], reason)
end
local shared = fair(texts)
if shared then
    shared.place(soon, texts)
end
redis.call('ZADD', ready, unpack(backwards(soon)))
keep_records(ids, texts)
count(stats, 'lapsed', #ids)
leave_wake()
return #ids
