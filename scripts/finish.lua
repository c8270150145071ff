-- finish: a reserved job is done, or dead, and leaves something
-- KEYS   delayed reserved held dead jobs records unique stats result done kept
-- ARGV   id how what seconds (most life note hook about)...
-- reply  1 if it is LOST, its position in a list of one; else nothing
--
-- how      done, as in ack; or ran, crashed, unrun, as in bury
-- what     if it is done, its value as JSON; else its error, as in bury
-- seconds  how long the result is kept, 0.001 to LATER_RESULT_MAX; 0: no result
-- most     a job that is done is kept itself, with its document; a queue keeps at most this many; 0:
--          it is not
-- life     for how many seconds it is kept
-- note     `"ms":…,"host":…}`: about its last attempt, for the record of the kept job
-- hook     TYPE or TYPE@QUEUE of a job that is pushed, due now, to tell of this end; '': none
-- about    `"type":…,"queue":…`: of the job that has ended, for the hook's payload
--
-- The result is a list of one element: `{"state":"done","attempt":2,"at":1764000000.123456}`, a
-- line end, and the value, or for a dead job the whole error. Clients wait by BLMOVE from the list
-- to itself, so the element stays for the others. A new result replaces an old one, and the key is
-- never gone in between. If the id was pushed again meanwhile (inc/again.lua), the first line also
-- has `"again":true`: there is a later job of this id.

-- @told
-- @include leave

local wait = number(seconds, 0, LATER_RESULT_MAX)
wait = wait and (wait == 0 or wait >= 0.001) and wait

-- The short way: mostly it is done, is the only job of its token, and leaves a result and nothing
-- else.
local only = how == 'done' and #ARGV == 4 and wait and id
if only then
    redis.call('LINDEX', result, 0)
end
-- @include chain
-- @include end_one
-- @include chain_on
if ended then
-- @include chain_ready
    leave(result, wait, 'done', count_of(record or '', 'a') + 1, record or '', what)
    return {}
end

-- @include bury
-- @include settle
-- @include remain
-- @include hook

local room, life = whole(ARGV[5] or '0', 0, 1e9), number(ARGV[6] or '0', 0, 1e11)
local hook, about = ARGV[8] or '', ARGV[9]
local keeps = room and room > 0 and life and life > 0 and how == 'done'
if not wait or how ~= 'done' and not buried_how[how]
    or hook ~= '' and not hook_said(hook)
    or #ARGV > 9 or not (#ARGV == 4 or keeps or room == 0) then
    return redis.error_reply('ERR finish: how is done, ran, crashed, unrun; seconds 0.001 to '
        .. 'LATER_RESULT_MAX, or 0; most, life and note for one that is done; a hook is a TYPE or '
        .. 'TYPE@QUEUE')
end
redis.call('LINDEX', result, 0)
guard(1, { done, delayed, string.find(hook, '@', 1, true) and in_news or nil }, { kept })

local lost
record = records_of({ id })[1]
local document = keeps and redis.call('HGET', jobs, id)
local exists = hook ~= '' and redis.call('HEXISTS', jobs, id) == 1 -- else another token ended it
local state, attempt, left = 'done', count_of(record, 'a') + 1, what
if how == 'done' then
    lost = settle({ id }, 'done', { [id] = what })
else
    local texts
    lost, texts = bury({ id }, { how }, { what })
    if not texts[1] then
        return lost -- it is LOST; or its id was pushed again meanwhile, so there is no result yet
    end
    state, attempt = 'dead', count_of(texts[1], 'a')
    left = value_of(texts[1], 'e') or 'null'
end
if #lost == 0 and document then
    redis.call('HSET', kept, id, kept_as(record, attempt, ARGV[7], document))
    redis.call('ZADD', done, string.format('%.6f', now + life), id)
    keep_at_most(room, 1)
end
if #lost == 0 then
    leave(result, wait, state, attempt, record, left)
end
if #lost == 0 and exists then
    local failure, value = left, 'null'
    if how == 'done' then
        failure, value = 'null', what
    end
    push_hook(hook, about, id, state, attempt, failure, value)
end
return lost
