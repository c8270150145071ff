-- @include record

-- Tag `h` has the errors before the last one, newest first: a JSON array of at most 1,000 bytes,
-- from which the oldest are dropped. Each entry keeps the first line of its text, at most 120
-- bytes. An entry without `kind` failed like the next newer one. `return` and `unknown` are not
-- kept, since they may come again and again. The helpers are inside, so that most calls, which have
-- nothing to keep, do not make them.
local function with_earlier(record, tail)
    local head, old = string.match(value_of(record, 'e') or '',
        '^({"at":[%d.]+,"attempt":%d+),(.*)}$')
    local kind = head and string.match(old, '^"kind":"(%a+)"') or 'retry'
    if not head or kind == 'return' or kind == 'unknown' then
        return record
    end

    -- Splits off the end, which says how long the attempt took.
    local function parts_of(tail)
        local ms = string.match(tail, ',"ms":[%d.]+$') or ''
        return string.sub(tail, 1, -1 - #ms), ms
    end

    -- Never cuts within a JSON escape or a UTF-8 character.
    local function first_line(text)
        local at = 1
        while at <= #text do
            local byte, step = string.byte(text, at), 1
            if byte == 92 then
                step = string.find(text, '^u[dD][89abAB]', at + 1) and 12
                    or string.byte(text, at + 1) == 117 and 6 or 2
            elseif byte >= 192 then
                step = byte >= 240 and 4 or byte >= 224 and 3 or 2
            end
            if at + step > 121 or byte == 34 or string.find(text, '^\\n', at)
                or string.find(text, '^\\u000[aA]', at) then
                break
            end
            at = at + step
        end
        return string.sub(text, 1, at - 1)
    end

    local function brief(why)
        local text, host = string.match(why, '^"kind":"%a+","text":"(.*)","host":"([^"\\]*)"$')
        return string.format('"kind":"%s","text":"%s","host":"%s"', string.sub(kind, 1, 16),
            first_line(text or ''), text and #host <= 100 and host or '')
    end

    local why, ms = parts_of(old)
    local same = parts_of(string.sub(tail, 1, -2)) == why
    local list = head .. (same and '' or ',' .. brief(why)) .. ms .. '}'
    local before = string.match(value_of(record, 'h') or '', '^%[(.*)%]$')
    list = before and list .. ',' .. before or list
    while #list > 998 do
        list = string.match(list, '^(.*}),{"at":') or ''
    end
    return with_value(record, 'h', '[' .. list .. ']')
end
