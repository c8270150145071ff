-- @include put
-- @include flow

-- Returns the type of a hook, and the queue that it goes into ('': that of the job that has ended).
-- Nil: it is not written TYPE or TYPE@QUEUE.
local function hook_said(hook)
    local kind, queue = string.match(hook, '^([%w_.:-]+)@?([%w_.-]*)$')
    if kind and #kind <= 128 and #queue <= 64 then
        return kind, queue
    end
end

-- A job has ended for good, and its hook is pushed: a job, due now, whose payload says what has
-- happened. That is one step with the end that it tells of; or the news that brings it into another
-- queue is. So there is one hook for each such end, whoever dies and however often the caller
-- repeats its call. Its id is that of the ended job (its SHA-1 if that is too long), the ending and
-- the time, since a job may end more than once. `about` is `"type":_,"queue":_` of the job that has
-- ended.
local function push_hook(hook, about, id, ending, attempts, failure, value)
    local kind, queue = hook_said(hook)
    local said = string.gsub(id, '["\\]', '\\%0')
    local stamp = clock[1] .. string.sub('00000' .. clock[2], -6)
    local name = (#id <= 160 and id or redis.sha1hex(id)) .. '.' .. ending .. '.' .. stamp
    local document = table.concat({ '{"type":"', kind, '","hook_of":"', said,
        '","payload":{"id":"', said, '",', about, ',"ending":"', ending, '","attempts":',
        attempts, ',"error":', failure, ',"value":', value, '}}' })
    if queue == '' or queue == string.match(base, '{([^}/]*)') then
        put_job(name, now, '', document)
    else
        flow_send('put', queue, '-', name, 0, document)
        flow_post()
    end
end
