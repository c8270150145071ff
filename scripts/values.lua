-- values: what a job of a flow gets from those that it has waited for
-- KEYS   flow values failed
-- ARGV   name id most
-- reply  the flow as JSON if it has waited for `*`, else ''; then each step and its value. Or nothing
--
-- value  '' if the step gave none, nil if it did not fit
-- name   of the flow, in whose queue this is asked
-- most   how many bytes all values may have together, up to 1048576; the ids, a sixteenth of that
--
-- The counts are those of the jobs without `*`. The ids are of jobs that are dead or gone, those that
-- failed first come first.

-- @include number

local room = whole(most, 0, LATER_FLOW_VALUES)
if not room then
    return redis.error_reply('ERR values: most is 0 to LATER_FLOW_VALUES')
end
local text = redis.call('HGET', flow, 'j:' .. id)
local after = text and string.match(text, '^%a %S+ %S+ %S+ (%S+)')
if not after or after == '-' then
    return {}
end

local counts = { 'total', 'open', 'waiting', 'done', 'dead', 'gone', 'skipped' }

local function flow_text()
    local said = {}
    for i, count in ipairs(redis.call('HMGET', flow, unpack(counts))) do
        said[i] = string.format('"%s":%d', counts[i], tonumber(count or 0) or 0)
    end
    local ids, size = {}, 0
    for _, one in ipairs(redis.call('ZRANGE', failed, 0, 999)) do
        local quoted = '"' .. string.gsub(one, '["\\]', '\\%0') .. '"'
        size = size + #quoted + 1
        if size > room / 16 then
            break
        end
        ids[#ids + 1] = quoted
    end
    return string.format('{"name":"%s",%s,"failed":[%s]}', name, table.concat(said, ','),
        table.concat(ids, ','))
end

if after == '*' then
    return { flow_text() }
end
local reply, size = { '' }, 0
for step in string.gmatch(after, '[^,]+') do
    local length = redis.call('HSTRLEN', values, step)
    reply[#reply + 1] = step
    if size + length > room then
        reply[#reply + 1] = false
    else
        size = size + length
        reply[#reply + 1] = length > 0 and redis.call('HGET', values, step) or ''
    end
end
return reply
