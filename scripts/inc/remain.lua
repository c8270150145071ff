-- @include record
-- @include done
-- @include results_for

-- What jobs that are done leave.

-- Keeps a job itself, with its document and its record, less what only a next attempt needs. `note`
-- is `"ms":…,"host":…}`.
local function kept_as(record, attempt, note, document)
    local head = string.format('{"at":%.6f,"attempt":%d,', now, attempt)
    local about = head .. string.gsub(note, '\n', ' ')
    record = with_value(with_value(record, 'n'), 'm')
    return with_value(record, 'k', about) .. '\n' .. document
end

-- The queue keeps at most `room`; `added` were just added. If it keeps fewer than it did, the rest
-- goes by and by.
local function keep_at_most(room, added)
    local over = redis.call('ZCARD', done) - room
    if over > 0 then
        drop_done(math.min(over, added + 100))
    end
end
