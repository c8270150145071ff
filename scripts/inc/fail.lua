-- @include earlier

-- The record with why an attempt failed. `tail` is `"kind":…,"text":…,"host":…}`, made by the
-- caller, or '' to keep what is there. It is not read; a line end, which JSON may have between two
-- members, becomes a space.
local function with_error(record, attempt, tail)
    if tail == '' then
        return record
    end
    local head = string.format('{"at":%.6f,"attempt":%d,', now, attempt)
    tail = string.gsub(tail, '\n', ' ')
    return with_value(with_earlier(record, tail), 'e', head .. tail)
end

-- The record with one attempt more, and why it failed.
local function failed(record, tail)
    local attempt = count_of(record, 'a') + 1
    record = with_value(with_value(record, 'i'), 'a', attempt)
    return with_error(record, attempt, tail)
end

local function crashed(record)
    return with_value(record, 'c', count_of(record, 'c') + 1)
end
