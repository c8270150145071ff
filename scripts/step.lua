-- step: jobs are done, and the first ready ones are handed out under another token
-- KEYS   ready delayed reserved held dead jobs records wake paused stats unique fresh (ahead)...
-- ARGV   new_token lease limit bytes keep value (id)...
-- reply  that of reserve; then a list of the LOST positions, or what `values` gives the one job
--
-- keep   for how many seconds the result of a single job is kept, as in finish; 0: it leaves only
--        a value; '': nothing
-- value  what it leaves, as JSON; '' if nothing
--
-- This is ack or finish and reserve in one call, for who takes jobs one at a time: it costs half.
-- `held` is the set of the token whose jobs are done. The first arguments are those of reserve, and
-- `fresh` is the set of new_token. A repetition answers an error, as that of a reserve; what became
-- of the jobs, the ack or finish of each of them says. The list is there only if it is needed: where
-- all are done, and the one job that is handed out has become ready by that.
--
-- The key of the result is not among KEYS, so it is looked at before the first write: while its
-- slot moves to another node of a Cluster, one that is missing is an error here.

-- @told

local token, set, few = new_token, fresh, false
-- @include take
local only = #ARGV == 7 and ARGV[7]
local wait, what, result = nil, 'null', nil
if keep ~= '' then
    wait, what = number(keep, 0, LATER_RESULT_MAX), value
    if not only or not wait or wait > 0 and wait < 0.001 then
        return redis.error_reply('ERR step: keep is 0.001 to LATER_RESULT_MAX, or 0, of one job')
    end
    result = string.sub(jobs, 1, -5) .. 'result:' .. only
    redis.call('LINDEX', result, '0')
end
-- @include first
for i = 7, #ARGV do -- somebody has put one of these into `ready` by hand
    document = ARGV[i] ~= id and document
end
-- @include chain
-- @include end_one
-- @include chain_on
local lost = {}
if not ended then
-- @inside settle
    local other
    lost, other = settle({ unpack(ARGV, 7) }, 'done', wait and { [only] = what })
    others = others or recorded -- it may have put jobs into `delayed`
    awake = awake or other -- by the end of these; they left a wake
    if other then
        document = false -- another one may be the first now
    end
end
if wait and #lost == 0 then
-- @inside leave
    leave(result, wait, 'done', count_of(record or '', 'a') + 1, record or '', what)
end
-- What has become ready by this one need not go into `ready` if it is the first.
local given
if freed and not stopped and #freed <= 200 and (there == 0
    or most == 1 and document and tonumber(freed_score) < tonumber(score)) then
    local its = redis.call(beside and 'HSTRLEN' or 'HGET', jobs, freed)
    if its and its ~= 0 then
        id, score, text, document, told = freed, freed_score, freed_record, its, nil
        given = lasting and { '', lasting, what ~= 'null' and what or '' }
    end
end
if freed and id ~= freed then
-- @include chain_ready
    document, awake = false, true -- it may be the first
end
-- @include take_one
if not one then
-- @inside take_many
    take_many()
end
if given then
    reply[#reply + 1] = given
elseif #lost > 0 then
    reply[#reply + 1] = lost
end
return reply
