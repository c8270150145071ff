-- @include earlier

-- Returns the record with the reason why an attempt failed. `tail` is `"kind":…,"text":…,"host":…}`
-- from the caller, or '' to keep the reason that is there. It is not parsed. JSON may have line
-- ends between two members; they become spaces.
local function with_error(record, attempt, tail)
    if tail == '' then
        return record
    end
    local head = string.format('{"at":%.6f,"attempt":%d,', now, attempt)
    tail = string.gsub(tail, '\n', ' ')
    return with_value(with_earlier(record, tail), 'e', head .. tail)
end

-- Returns the record with one more attempt, and the reason why it failed.
local function failed(record, tail)
    local attempt = count_of(record, 'a') + 1
    record = with_value(with_value(record, 'i'), 'a', attempt)
    return with_error(record, attempt, tail)
end

local function crashed(record)
    return with_value(record, 'c', count_of(record, 'c') + 1)
end
