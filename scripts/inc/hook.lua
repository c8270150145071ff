-- @include now
-- @include count
-- @include delay

-- A job has ended for good, and its hook is pushed: a job of the type `hook`, due now, whose
-- payload says what has happened. That is one step with the end that it tells of: there is one hook
-- for each such end, whoever dies and however often the caller repeats its call. Its id is that of
-- the ended job (its SHA-1 if that is too long), the ending and the time, since a job may end more
-- than once. `about` is `"type":_,"queue":_` of the job that has ended.
local function push_hook(hook, about, id, ending, attempts, failure, value)
    local said = string.gsub(id, '["\\]', '\\%0')
    local stamp = clock[1] .. string.sub('00000' .. clock[2], -6)
    local name = (#id <= 160 and id or redis.sha1hex(id)) .. '.' .. ending .. '.' .. stamp
    for _ = 1, 9 do -- if the clock went back
        name = redis.call('HEXISTS', jobs, name) == 1 and name .. '+' or name
    end
    local document = table.concat({ '{"type":"', hook, '","hook_of":"', said,
        '","payload":{"id":"', said, '",', about, ',"ending":"', ending, '","attempts":',
        attempts, ',"error":', failure, ',"value":', value, '}}' })
    redis.call('HSET', jobs, name, document)
    delay({ string.format('%.6f', now), name })
    count(stats, 'pushed', 1)
end
