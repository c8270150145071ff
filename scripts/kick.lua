-- kick: dead, delayed or waiting jobs become ready
-- KEYS   ready delayed dead jobs records wake paused stats waiting
-- ARGV   (id)...
-- reply  for each id the state it came from, or '' where it is in no such state
--
-- A dead job starts afresh: its attempts and crashes are forgotten, and so is since when it was put
-- off (tag b). Its last error is kept.

-- @include now
-- @include guard
-- @include wake
-- @include record
-- @include count
-- @include backwards
-- @include flow
-- @include share
-- @include guard_fair

guard(#ARGV, { ready, delayed, dead, waiting }, { stats })
guard_fair()

local from, soon, placed, places = {}, {}, {}, {}
local texts = records_of(ARGV)
for i = 1, #ARGV do
    local id = ARGV[i]
    from[i] = ''
    if not placed[id] then
        if redis.call('ZSCORE', dead, id) then
            from[i] = 'dead'
        elseif redis.call('ZSCORE', delayed, id) then
            from[i] = 'delayed'
        elseif recorded and redis.call('ZSCORE', waiting, id) then
            from[i] = 'waiting'
        end
    end
    if from[i] ~= '' then
        placed[id], places[#places + 1] = true, i
        soon[#soon + 1] = now + i / 1000000 - rank(texts[i])
        soon[#soon + 1] = id
    end
end
if #soon == 0 then
    return from
end
local members = flow_of(ARGV, texts)
for i = 1, #ARGV do
    if from[i] == 'dead' then
        redis.call('ZREM', dead, ARGV[i])
        for _, tag in ipairs({ 'a', 'b', 'c', 'i', 'r' }) do
            texts[i] = with_value(texts[i], tag)
        end
    elseif from[i] == 'delayed' then
        redis.call('ZREM', delayed, ARGV[i])
    elseif from[i] == 'waiting' then
        redis.call('ZREM', waiting, ARGV[i])
    end
end
local shared = fair(texts)
if shared then
    shared.place(soon, texts, places)
end
if recorded then
    for _, i in ipairs(places) do
        if shared or from[i] == 'dead' then
            keep_records({ ARGV[i] }, { texts[i] })
        end
    end
end
redis.call('ZADD', ready, unpack(backwards(soon)))
leave_wake()
count(stats, 'kicked', #soon / 2)
flow_tell(members, 'o', placed)
return from
