-- edit: give a job that does not run another document
-- KEYS   ready delayed dead jobs records
-- ARGV   id seen document
-- reply  the state it is in. `reserved`, `changed`, '' (no such job): nothing was done
--
-- seen      the document that it is to replace; with any other one it answers `changed`
-- document  the new one. All else stays: place, due time, attempts, priority, the group whose place it
--           has, ties to flows

-- @include where

if document == '' then
    return redis.error_reply('ERR edit: the document is empty')
end
local old = redis.call('HGET', jobs, id)
local state = old and where(id) or ''
if not old or state == 'reserved' then
    return state
elseif old ~= seen then
    return 'changed'
end
redis.call('HSET', jobs, id, document)
return state
