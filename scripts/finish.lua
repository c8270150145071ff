-- finish: a reserved job is done, or dead, and leaves a result
-- KEYS   delayed reserved held dead jobs records unique stats result
-- ARGV   id how what seconds
-- reply  1 where it is LOST, as of a list
--
-- how      done, as ack; or ran, crashed, unrun, as bury
-- what     of one that is done: its value, JSON; else its error, as in bury
-- seconds  how long the result is kept, 0.001 to 86400
--
-- The result is a list of one element, which who waits (BLMOVE onto itself) leaves there for the
-- others: `{"state":"done","attempt":2,"at":1764000000.123456}`, a line end, and the value, or the
-- whole error of one that is dead. It replaces the one of before; the key is never gone in between.

-- @include bury
-- @include settle

local kept = number(seconds, 0.001, 86400)
if not kept or (how ~= 'done' and not buried_how[how]) then
    return redis.error_reply('ERR finish: how is done, ran, crashed, unrun; seconds 0.001 to 86400')
end
redis.call('LINDEX', result, 0)
local record, lost = records_of({ id })[1], nil
local state, attempt, left = 'done', count_of(record, 'a') + 1, what
if how == 'done' then
    lost = settle({ id }, 'done')
else
    local texts
    lost, texts = bury({ id }, { how }, { what })
    if not texts[1] then
        return lost -- or it goes on: its id was pushed again meanwhile
    end
    state, attempt = 'dead', count_of(texts[1], 'a')
    left = value_of(texts[1], 'e') or 'null'
end
if #lost == 0 then
    local head = '{"state":"%s","attempt":%d,"at":%.6f}\n'
    redis.call('LPUSH', result, string.format(head, state, attempt, now) .. left)
    redis.call('LTRIM', result, 0, 0)
    redis.call('PEXPIRE', result, math.ceil(kept * 1000))
end
return lost
