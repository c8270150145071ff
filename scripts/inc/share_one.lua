-- The place of this job goes by groups (inc/share.lua), it was handed out alone, with this `score`,
-- and `there` were ready. This is leave() there in two commands. `told`: what `fair` has of its
-- priority, `rank`, and of its group. Without functions: to make them costs more than all else.
local key = string.sub(jobs, 1, -5) .. 'fair'
local front, till = string.match(told[1], '^(%S+) ?(%S*)$')
local last, left = string.match(told[2] or '', '^(%S+) (%d+)$')
if there == 1 then
    redis.call('DEL', key)
else
    local tag = math.max(score + rank * 1000000, tonumber(front) or 0)
    local text = string.format('%.6f', tag)
    if tag < (tonumber(till) or 0) then
        text = text .. ' ' .. till
    end
    if left and left ~= '1' then
        redis.call('HSET', key, rank, text, rank .. ' ' .. group, last .. ' ' .. left - 1)
    else
        redis.call('HSET', key, rank, text)
        redis.call('HDEL', key, rank .. ' ' .. group)
    end
end
