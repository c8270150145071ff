-- @include one
-- @include now

-- A job of one flow, which lies here, is simple, too, if nobody waits for it, or one job that waits
-- for nothing else, and the flow goes on: mostly so in a chain. This only reads, and makes no
-- functions. `onward`: what is then written to the flow; `lasting`: its step, if its value may be
-- wanted; `freed`: the job that becomes ready, with its record and score. See inc/flow.lua.
local base = string.sub(jobs, 1, -5)
local waits = base .. 'waiting'
local onward, lasting, freed, freed_record, freed_score
if record and not simple and not string.find(record, '[dnu]=') then
    local flow = string.match('\n' .. record, '\nf=([^\n @]+)\n')
    local key = flow and base .. 'flow:' .. flow
    local text, told = key and redis.call('HGET', key, 'j:' .. only) or '', nil
    local step, rest = string.match(text, '^o (%S+)( %S+ %S+ [^* ]+)$')
    if text == 'o' then
        step, rest = '-', ''
    end
    if step then
        told = redis.call('HMGET', key, 'open', 'waiting', 'done', 'closed', 's:' .. step,
            'a:' .. step)
    end
    local open, waiting = told and tonumber(told[1] or ''), told and tonumber(told[2] or 0)
    if open and waiting and open + waiting > 1 and (step == '-' or told[5] == only) then
        local id = step ~= '-' and told[6]
        text = id and redis.call('HGET', key, 'j:' .. id) or ''
        local name, when, after = string.match(text, '^w (%S+) (%a+) %- (%S+)$')
        if name and after == step and when ~= 'failed' and redis.call('ZSCORE', waits, id)
            and redis.call('HLEN', base .. 'fair') == 0 then
            freed, freed_record = id, redis.call('HGET', records, id)
        end
        local lines = freed_record and '\n' .. freed_record or ''
        if string.byte(text) ~= 119 and not (id and string.find(id, ' ', 1, true)) then
            simple = true -- nobody waits
        elseif string.find(lines, '\nf=' .. flow .. '\n', 1, true)
            and not string.find(lines, '\nq=', 1, true) then
            simple = true
            open, waiting = open + 1, waiting - 1
            local rank = string.match(lines, '\np=(%-?%d+)\n')
            freed_score = string.format('%.6f', now + 0.000001 - (rank or 0) * 1000000)
        end
        if simple then
            redis.call('ZCARD', base .. 'ready') -- fails on a wrong type before the first write
            onward = { key, 'j:' .. only, rest == '' and 'd' or 'd ' .. step .. rest,
                'open', string.format('%d', open - 1), 'waiting', string.format('%d', waiting),
                'done', string.format('%d', (tonumber(told[3] or 0) or 0) + 1) }
            lasting = step ~= '-' and (told[6] or told[4] ~= '1') and step
        end
        if simple and freed then
            onward[10], onward[11] = 'j:' .. freed, 'o' .. string.sub(text, 2)
        end
    end
end
