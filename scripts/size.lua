-- size: count the jobs of a queue
-- KEYS   ready delayed reserved dead jobs records paused stats shards waiting news
-- ARGV   none
-- reply  ready, delayed, reserved, dead, paused (0 or 1), age of the oldest ready job in seconds
--        ('' = none), documents, then the counters: name, value …; and, likewise, overdue: how many
--        reservations have run out and were not returned yet; waiting: jobs that wait for others;
--        news_left: news of flows that has not been moved yet, and news_age: for how many seconds;
--        plan: that of its shards ('' = none)
--
-- All numbers are from one moment, so `later check` can add them up.

-- @include now
-- @include record

-- A score is a time less the priority, so each priority has a band of scores, and the first job in
-- it is its oldest. Jobs with a score of 0 ("before everything") have no age.
local oldest
local from = 900000000
for _ = -100, 100 do
    local first = redis.call('ZRANGEBYSCORE', ready, from, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
    if not first[1] then
        break
    end
    local off = rank(records_of({ first[1] })[1])
    local pushed = first[2] + off
    if not oldest or pushed < oldest then
        oldest = pushed
    end
    -- A member that was put there with a time to come is itself above its band.
    local top = now - off + 1
    from = '(' .. (tonumber(first[2]) > top and first[2] or string.format('%.6f', top))
    if not recorded then
        break
    end
end

-- Reserved jobs are counted from the counters. `reserved` has only tokens; their jobs are in keys
-- that cannot be named here.
local counters, of = redis.call('HGETALL', stats), {}
for i = 1, #counters, 2 do
    of[counters[i]] = tonumber(counters[i + 1])
end
local out = (of.reserved or 0) + (of.buried_waiting or 0)
for _, back in ipairs({ 'done', 'expired', 'released', 'returned', 'buried', 'lapsed',
    'withdrawn' }) do
    out = out - (of[back] or 0)
end

-- Where places go by groups, the first job is not the oldest. The oldest of each group is among the
-- first, so the first 500 are looked at.
if recorded and redis.call('EXISTS', string.sub(jobs, 1, -5) .. 'fair') == 1 then
    local first = redis.call('ZRANGE', ready, 0, 499)
    local texts = #first > 0 and records_of(first) or {}
    oldest = nil
    for i, text in ipairs(texts) do
        local since = tonumber(string.match('\n' .. text, '\nq=([%d.]+) ') or nil)
        if not since then
            since = redis.call('ZSCORE', ready, first[i]) + rank(text)
            since = since > 900000000 and since or nil
        end
        oldest = since and math.min(oldest or since, since) or oldest
    end
end

local reply = {
    redis.call('ZCARD', ready),
    redis.call('ZCARD', delayed),
    math.max(0, out),
    redis.call('ZCARD', dead),
    redis.call('EXISTS', paused),
    oldest and string.format('%.6f', math.max(0, now - oldest)) or '',
    redis.call('HLEN', jobs),
}
for _, counter in ipairs(counters) do
    reply[#reply + 1] = counter
end
reply[#reply + 1] = 'overdue'
reply[#reply + 1] = redis.call('ZCOUNT', reserved, '-inf', now)
reply[#reply + 1] = 'waiting'
reply[#reply + 1] = redis.call('ZCARD', waiting)
local first = redis.call('ZRANGE', news, 0, 0, 'WITHSCORES')
reply[#reply + 1] = 'news_left'
reply[#reply + 1] = redis.call('ZCARD', news)
reply[#reply + 1] = 'news_age'
reply[#reply + 1] = string.format('%.0f', math.max(0, now - (first[2] or now * 1000000) / 1000000))
reply[#reply + 1] = 'plan'
reply[#reply + 1] = redis.call('GET', shards) or ''
return reply
