-- trim_done: drop done jobs that were kept long enough, and those beyond a number
-- KEYS   done kept
-- ARGV   max limit
-- reply  how many were dropped
--
-- max    done jobs to keep
-- limit  at most this many are dropped, 1 to 500
--
-- Each laterd with `types.keep` that looks after its queues calls it every ten seconds.

-- @include now
-- @include guard
-- @include done

local room, most = whole(max, 0, 1e12), whole(limit, 1, LATER_BATCH_MAX)
if not room or not most then
    return redis.error_reply('ERR trim_done: max from 0, and a limit of 1 to LATER_BATCH_MAX')
end
guard(most, { done }, { kept })
local over = math.max(redis.call('ZCARD', done) - room, redis.call('ZCOUNT', done, '-inf', now))
return over > 0 and drop_done(math.min(over, most)) or 0
