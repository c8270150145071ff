-- result: what a job has left, and where it is
-- KEYS   ready delayed dead jobs records result
-- ARGV   id
-- reply  its state ('' = no such job), its result ('' = none), its record
--
-- If the job is ready, delayed or reserved, the result is from an earlier job of this id.

-- @include where

local state = redis.call('HEXISTS', jobs, id) == 1 and where(id) or ''
local left = redis.call('LINDEX', result, 0) or ''
return { state, left, redis.call('HMGET', records, id)[1] or '' }
