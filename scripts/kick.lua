-- kick: dead or delayed jobs become ready
-- KEYS   ready delayed dead records wake paused stats
-- ARGV   (id)...
-- reply  for each id the state it came from, or '' where it is neither dead nor delayed
--
-- A dead job starts afresh: its attempts and crashes are forgotten, and so is since when it was put
-- off (tag b). Its last error is kept.

-- @include now
-- @include guard
-- @include wake
-- @include record
-- @include count
-- @include backwards

guard(#ARGV, { ready, delayed, dead }, { stats })

local from, soon, placed = {}, {}, {}
local texts = records_of(ARGV)
for i = 1, #ARGV do
    local id = ARGV[i]
    from[i] = ''
    if not placed[id] then
        if redis.call('ZSCORE', dead, id) then
            from[i] = 'dead'
        elseif redis.call('ZSCORE', delayed, id) then
            from[i] = 'delayed'
        end
    end
    if from[i] ~= '' then
        placed[id] = true
        soon[#soon + 1] = now + i / 1000000 - rank(texts[i])
        soon[#soon + 1] = id
    end
end
if #soon == 0 then
    return from
end
for i = 1, #ARGV do
    if from[i] == 'dead' then
        redis.call('ZREM', dead, ARGV[i])
        for _, tag in ipairs({ 'a', 'b', 'c', 'i' }) do
            texts[i] = with_value(texts[i], tag)
        end
        if recorded then
            keep_records({ ARGV[i] }, { texts[i] })
        end
    elseif from[i] == 'delayed' then
        redis.call('ZREM', delayed, ARGV[i])
    end
end
redis.call('ZADD', ready, unpack(backwards(soon)))
leave_wake()
count(stats, 'kicked', #soon / 2)
return from
