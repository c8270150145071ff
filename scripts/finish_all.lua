-- finish_all: jobs are done, and each leaves something
-- KEYS   delayed reserved held jobs records unique stats done kept
-- ARGV   most life (id value seconds note)...
-- reply  the positions (from 1) of ids that are LOST
--
-- This is finish for many jobs of one token that are done and have no hook. It costs a sixth of as
-- many calls. value, seconds, note: as in finish, of each; most, life: as in finish, of all.
--
-- The keys of the results are not among KEYS, so they are looked at before the first write: while
-- their slot moves to another node of a Cluster, one that is missing is an error here.

-- @told
-- @include remain
-- @include again
-- @include stay
-- @include settle

local room, seconds = whole(most, 0, 1e9), number(life, 0, 1e11)
if not room or not seconds or room > 0 and seconds == 0 then
    return redis.error_reply('ERR finish_all: most and life are numbers from 0')
end
local ids, values, waits, keys, value_by, said, wait = {}, {}, {}, {}, {}, nil, nil
for i = 3, #ARGV, 4 do
    local n = #ids + 1
    if ARGV[i + 2] ~= said then -- mostly all are the same
        said = ARGV[i + 2]
        wait = number(said, 0, LATER_RESULT_MAX)
        if not wait or wait > 0 and wait < 0.001 then
            return redis.error_reply('ERR finish_all: seconds 0.001 to LATER_RESULT_MAX, or 0')
        end
    end
    ids[n], values[n], waits[n] = ARGV[i], ARGV[i + 1], wait
    value_by[ARGV[i]] = ARGV[i + 1]
    if wait > 0 then
        keys[#keys + 1] = result_of(ARGV[i])
    end
end
guard(#ids, { done, delayed }, { kept })
if #keys > 0 then
    redis.call('EXISTS', unpack(keys))
end

local texts = records_of(ids)
local documents = room > 0 and #ids > 0 and redis.call('HMGET', jobs, unpack(ids))
local lost, is_lost = settle(ids, 'done', value_by), {}
for _, n in ipairs(lost) do
    is_lost[n] = true
end

local whole_of, due, longest, head, of, milliseconds = {}, {}, 0, nil, nil, nil
local ends, stamp = string.format('%.6f', now + seconds), string.format('%.6f', now)
said = nil
for n = 1, #ids do
    if not is_lost[n] then
        local record, attempt = texts[n], 1
        if record ~= '' then
            attempt = count_of(record, 'a') + 1
        end
        if documents and documents[n] then
            whole_of[#whole_of + 1] = ids[n]
            whole_of[#whole_of + 1] = kept_as(record, attempt, ARGV[4 * n + 2], documents[n])
            due[#due + 1], due[#due + 2] = ends, ids[n]
        end
        if waits[n] > 0 then
            if waits[n] ~= said then
                said = waits[n]
                milliseconds = string.format('%.0f', math.ceil(said * 1000))
                longest = math.max(longest, said)
            end
            local again = value_of(record, 'n') and ',"again":true' or ''
            if attempt .. again ~= of then
                of = attempt .. again
                head = '{"state":"done","attempt":' .. attempt .. ',"at":' .. stamp .. again
                    .. '}\n'
            end
            local key = result_of(ids[n])
            local count = redis.pcall('LPUSH', key, head .. values[n])
            if count ~= 1 then
                if type(count) == 'table' then -- another program's; to stop here would lose others
                    redis.call('DEL', key)
                    redis.call('LPUSH', key, head .. values[n])
                end
                redis.call('LTRIM', key, 0, 0)
            end
            redis.call('PEXPIRE', key, milliseconds)
        end
    end
end
if #due > 0 then
    redis.call('HSET', kept, unpack(whole_of))
    redis.call('ZADD', done, unpack(due))
    keep_at_most(room, #due / 2)
end
results_for(longest)
return lost
