-- limit_take: may these jobs begin now? Counts those that may
-- KEYS   limit line_waiting line_due
-- ARGV   max per window (waiter)...
-- reply  how many wait, if one was counted; seconds until one more may begin (0 = now, but others may
--        have waited longer); then of each job, if it was counted, at what time; else of how many
--        in the line came after it, a number, or -1 if it is not there
--
-- max     1 to 10^9; per: seconds, 0.001 to 10^9; window: fixed or sliding, as in limit_fixed and
--         limit_sliding
-- waiter  a job: its queue, a space, its id. Those that are in the line before it go first; of those
--         of one call, the first
--
-- In a sliding window its place is kept until limit_begun says that it has begun; without that for
-- 5 seconds, and for `per` after them. Each has a time of its own, by which it is told from the
-- others: those of one call by what is added here, those of two since Redis's clock goes on.

local waiter -- of the job in question
-- @include limit
-- @include turn

local most, span = whole(max, 1, 1e9), number(per, 0.001, 1e9)
if not most or not span or window ~= 'fixed' and window ~= 'sliding' or #ARGV > 1003 then
    return redis.error_reply('ERR limit_take: max from 1, per seconds, window fixed or sliding, '
        .. 'at most 1000 jobs')
end
for i = 4, #ARGV do
    if #ARGV[i] > 300 then
        return redis.error_reply('ERR limit_take: a job has at most 300 bytes')
    end
end

local some = #ARGV - 3
local room, opens = limit_room(most, span, line_empty and some or 100 + some)
local answers, counted, last = { 0, '0' }, {}, string.format('%d', most - 1)
local first, left, count
for i = 4, #ARGV do
    waiter = ARGV[i]
    if is_turn(room) then
        -- A full Redis accepts a script whose first write needs no memory.
        if not first and window == 'fixed' then
            left = redis.call('PTTL', limit)
            count = left > 0 and redis.call('GET', limit) or 0
            left = left > 0 and left or math.ceil(span * 1000)
            first = now + left / 1000
            redis.call('PEXPIRE', limit, left)
        elseif not first then
            local newest = some > 1 and tonumber(redis.call('LINDEX', limit, '0'))
            first = now + LIMIT_OPEN
            first = newest and newest >= first and newest + 0.000001 or first
            redis.call('LTRIM', limit, '0', last)
        end
        answers[i - 1] = spell(window == 'fixed' and first or first + #counted / 1000000)
        counted[#counted + 1] = answers[i - 1]
        room = room - 1
        leave_turn()
    else
        answers[i - 1] = line_empty and -1 or tonumber(behind() or -1)
    end
end
if first then
    if window == 'fixed' then
        redis.call('SET', limit, count + #counted, 'PX', left)
    else
        redis.call('LPUSH', limit, unpack(counted))
        redis.call('LTRIM', limit, '0', last) -- a number in its place would cost far more
        redis.call('PEXPIRE', limit, string.format('%.0f', math.ceil((span + LIMIT_OPEN) * 1000)))
    end
    room, opens = limit_room(most, span, 1)
    answers[1] = line_empty and 0 or redis.call('ZCOUNT', line_waiting, '(0', '+inf')
end
answers[2] = string.format('%.6f', room > 0 and 0 or opens)
return answers
