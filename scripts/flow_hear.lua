-- flow_hear: a queue hears news of flows from another one
-- KEYS   ready delayed dead jobs records wake paused stats waiting flows news heard
-- ARGV   from (news)...
-- reply  how many were understood
--
-- from  the queue in whose `news` they are
-- news  `NUMBER KIND QUEUE FLOW ID N …`, in the order in which they are there, without leaving out any
--       for this queue. N is the number of the job's tie, `=` for NUMBER
--
-- To the queue of a flow:  p N ASKED   the job waits there
--                          o N ASKED, x N ASKED   it lives, or is dead; `o N`, `x N`: from now on
--                          d N, g N, s N   it is done; it is gone; it is not needed
--                          d N =VALUE      the same, and what it left, as JSON
--                          n N         it is not there
-- To that of a job:        run N DELAY, bury N WHY, drop N   what becomes of it, as it waits
--                          look N STATE   tell what it is, unless it is that
-- To any queue, of no flow: `NUMBER put QUEUE DUE ID LENGTH RECORD DOCUMENT`, without the space before
-- DOCUMENT: this job is pushed here. LENGTH: bytes of RECORD; DUE: UNIX seconds, `-` for now, `xTIME` for
-- a job that is dead since then. It is heard once, since the numbers of a queue's news only grow. What is
-- due now keeps its order.
--
-- News may come more than once, and an old one after newer ones; what has been heard before then changes
-- nothing. ASKED is the number that flow_join gave, so that a job of an earlier flow of this name is not
-- taken for one of this flow.

-- @include now
-- @include guard
-- @include hand_on
-- @include put

-- Returns the key of the flow, and its job that the news is about; nil: it is not about it.
local function flow_lead(one)
    local key = flow_key(one.flow)
    local job = flow_read(key, one.id)
    if not job or not job.queue then
        return key, nil
    end
    if one.asked and job.state == 'w' and job.number == '-' .. one.asked then
        job.queue, job.number = from, one.tie -- now it is known to be there
        flow_write(key, job)
    end
    local is_it = job.number == one.tie or one.kind == 'n' and job.number == '-' .. one.tie
    return key, is_it and job or nil
end

-- It waits there. If its fate was decided before, it is told again: that may have been lost.
local function waits(one)
    local key, job = flow_lead(one)
    local was = job and job.state
    if was == 'x' and redis.call('HEXISTS', key, 'v:' .. one.id) == 0 then
        flow_move(key, job, 'w')
    end
    if was == 'w' or was == 'x' then
        flow_queue[#flow_queue + 1] = { key, one.id }
    elseif was == 'o' then
        flow_send('run', from, one.flow, one.id, one.tie, job.delay)
    else
        flow_send('drop', from, one.flow, one.id, one.tie)
    end
end

-- Only the newest of these counts.
local function lives(one)
    local key, job = flow_lead(one)
    local field = 'v:' .. one.id
    if job and one.number > tonumber(redis.call('HGET', key, field) or 0) then
        redis.call('HSET', key, field, string.format('%.0f', one.number))
        flow_move(key, job, one.kind)
    end
end

local function ends(one)
    local key, job = flow_lead(one)
    if job then
        flow_move(key, job, one.kind == 'n' and 'l' or one.kind)
        if one.value then
            hand_on(key, one.id, one.value)
        end
    end
end

-- Returns the record of a job with this tie (nil: there is none), and whether it waits for that
-- flow.
local function tied(one)
    local text = records_of({ one.id })[1]
    local ties = ' ' .. (value_of(text, 'f') or '') .. ' '
    one.name = one.flow .. '@' .. from .. '#' .. one.tie
    if one.asked then -- any number
        local start = ' ' .. string.gsub(one.flow .. '@' .. from, '[.-]', '%%%0')
        one.tie = string.match(ties, start .. '#(%d+) ')
        one.name = one.flow .. '@' .. from .. '#' .. (one.tie or '')
    end
    if not string.find(ties, ' ' .. one.name .. ' ', 1, true) then
        return nil
    end
    return text, value_of(text, 'w') == one.name and redis.call('ZSCORE', waiting, one.id)
end

local decided = {
    run = function(one, text)
        flow_run(one.id, one.rest, text)
        flow_others(one.id, text, one.name, 'o')
    end,
    bury = function(one)
        flow_dead(one.id, one.name, (string.gsub(one.rest, '[%c"\\]', '?')))
    end,
    drop = function(one)
        flow_drop(one.id, one.name)
    end,
}

local function decide(one)
    local text, it_waits = tied(one)
    if it_waits then
        redis.call('ZREM', waiting, one.id)
        decided[one.kind](one, text)
    elseif not text and one.kind ~= 'drop' then
        flow_send('n', from, one.flow, one.id, one.tie)
    end
end

local function look(one)
    local asked = string.match(one.tie, '^%-(.*)$')
    one.asked = asked
    local text, it_waits = tied(one)
    local state = text and (it_waits and 'w' or redis.call('ZSCORE', dead, one.id) and 'x' or 'o')
    if not text then
        flow_send('n', from, one.flow, one.id, asked or one.tie)
    elseif asked or state ~= one.rest then
        flow_send(state == 'w' and 'p' or state, from, one.flow, one.id, one.tie, asked)
    end
end

-- `heard` has the number of the last one from each queue. It is written last: what fails before is
-- not taken for heard. A due time that is no number is now.
local order = 0
local function put(one)
    if one.number > (tonumber(redis.call('HGET', heard, from) or 0) or 0) then
        local length = tonumber(one.tie) or 0
        local mark, due = string.match(one.flow, '^(x?)(.*)$')
        due = tonumber(due) or 0
        due = due == due and due or 0 -- NaN
        order = order + 0.000001
        put_job(one.id, math.max(due, now + order), string.sub(one.rest, 1, length),
            string.sub(one.rest, length + 1), mark == 'x' and due > 0 and due)
        redis.call('HSET', heard, from, string.format('%.0f', one.number))
    end
end

local kinds = { p = waits, o = lives, x = lives, d = ends, g = ends, s = ends,
    n = ends, run = decide,
    bury = decide, drop = decide, look = look, put = put }


guard(#ARGV - 1, { ready, delayed, dead, waiting, flows, news },
    { jobs, records, stats, heard })
flow_guard()
redis.call('ZREM', news, '') -- first: a full Redis takes all that comes after it
local understood = 0
for i = 2, #ARGV do
    local number, kind, flow, id, tie, rest =
        string.match(ARGV[i], '^(%d+) (%a+) %S+ (%S+) (%S+) (%S+) ?(.*)$')
    if kind == 'put'
        or kinds[kind] and type(redis.pcall('HLEN', flow_key(flow))) == 'number' then
        local one = { kind = kind, flow = flow, id = id, number = tonumber(number), rest = rest }
        one.tie = tie == '=' and number or tie
        one.asked = kind ~= 'look' and string.match(rest, '^%d+$') and #kind == 1 and rest or nil
        one.value = kind == 'd' and string.match(rest, '^=(.+)$')
        kinds[kind](one)
        understood = understood + 1
    end
end
flow_go_on()
return understood
