-- @include record
-- @include done
-- @include results_for
-- @include flow

-- What jobs that are done leave.

-- Keeps a job itself, with its record and its document. `note` is `"ms":…,"host":…}`.
local function kept_as(record, attempt, note, document)
    local head = string.format('{"at":%.6f,"attempt":%d,', now, attempt)
    local about = head .. string.gsub(note, '\n', ' ')
    return with_value(with_value(record, 'n'), 'k', about) .. '\n' .. document
end

-- The queue keeps at most `room`; `added` were just added. If it keeps fewer than it did, the rest
-- goes by and by.
local function keep_at_most(room, added)
    local over = redis.call('ZCARD', done) - room
    if over > 0 then
        drop_done(math.min(over, added + 100))
    end
end

-- The value of a step is for those that wait for it, or still may. A flow may have gone already.
local function hand_on(member, value)
    local key = flow_key(member[1]) -- in another queue there is nothing of this name
    local job = flow_read(key, member[2])
    local step = job and job.state == 'd' and job.step or '-'
    if step ~= '-' and (redis.call('HEXISTS', key, 'a:' .. step) == 1
        or redis.call('HGET', key, 'closed') ~= '1') then
        redis.pcall('HSET', key .. ':values', step, value)
    end
end
