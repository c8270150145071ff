-- told: what is put around a script that ends jobs, so that it tells of them in `events`
-- (doc/protocol.md, "Events"). Such a script has the line `-- @told`, and stays as it is: a call
-- that tells has one more key, `events`, and more arguments behind its own: a line for each job, in
-- the order of its jobs; then the host, how many ends are kept, and how many lines there are.
--
-- An entry is told here, after the jobs have ended, in the same call: of those that were not LOST.
-- Whatever is wrong with `events`, they have ended all the same.

local count = tonumber(ARGV[#ARGV] or '')
if not count or #ARGV < count + 3 then
    return redis.error_reply('ERR usage: the last arguments are (line)... host kept count')
end
local kept, host, lines, events = tonumber(ARGV[#ARGV - 1]), ARGV[#ARGV - 2], {}, KEYS[#KEYS]
for i = #ARGV - 2 - count, #ARGV - 3 do
    lines[#lines + 1] = ARGV[i]
end
for _ = 1, count + 3 do
    ARGV[#ARGV] = nil
end
KEYS[#KEYS] = nil

local function script()
-- @script
end

local reply = script()
if type(reply) ~= 'table' or reply.err then
    return reply -- nothing has ended
end

-- The positions of the LOST are the reply; that of step has them last, if there are any.
local lost, is_lost, ends = reply, {}, {}
if type(lost[1]) ~= 'number' then
    lost = type(reply[#reply]) == 'table' and reply[#reply] or {}
end
for i = 1, type(lost[1]) == 'number' and #lost or 0 do
    is_lost[lost[i]] = true
end
for i = 1, count do
    if not is_lost[i] then
        ends[#ends + 1] = lines[i]
    end
end
if #ends > 0 then
    -- An entry's id is the number of its last end, and the time.
    local last = redis.pcall('XREVRANGE', events, '+', '-', 'COUNT', 1)[1]
    local number = #ends + (type(last) == 'table' and tonumber(string.match(last[1], '^%d+')) or 0)
    local clock = redis.call('TIME')
    redis.pcall('XADD', events, 'MINID', '~', string.format('%.0f', math.max(0, number - kept)),
        string.format('%.0f-%s%s', number, clock[1], string.sub('00000' .. clock[2], -6)),
        'host', host, 'ends', table.concat(ends, '\n'))
end
return reply
