-- ack_all: all jobs that a token holds are done
-- KEYS   delayed reserved held jobs records unique stats
-- ARGV   total
-- reply  IDS: it holds another number of jobs, and nothing was done; or nothing
--
-- total  how many jobs the token was given, 1 to 500
--
-- This is ack for a caller that has done every job of its reserve. It costs less, since the ids are
-- not sent: they are in `held`. If jobs were cancelled or lapsed meanwhile, the caller uses ack, and
-- learns which of them are LOST.

-- @told
-- @include settle

local most = whole(total, 1, LATER_BATCH_MAX)
if not most then
    return redis.error_reply('ERR ack_all: the number of jobs is 1 to LATER_BATCH_MAX')
end
in_order = redis.call('ZRANGE', held, 0, -1)
if #in_order ~= most then
    return 'IDS'
end
return settle(in_order, 'done')
