-- cancel: drop jobs, whatever their state
-- KEYS   ready delayed reserved dead jobs records unique stats
-- KEYS   cancelled
-- ARGV   (id member)...
-- reply  for each job the state it had, or '' where there is none; `ended`: no job, but its id was
--        taken still, and is free now
--
-- member  `TOKEN:id` where the caller found it reserved (ZSCAN), else ''. The reservation is
--         withdrawn: who holds it is told LOST, and by a message on the channel `cancelled`.

-- @include now
-- @include guard
-- @include forget
-- @include count

local total = #ARGV / 2
guard(total, { ready, delayed, reserved, dead, unique }, { jobs, stats })

local sets = { ready = ready, delayed = delayed, dead = dead }
local from, gone, ended, seen = {}, {}, {}, {}
for i = 1, total do
    local id, member = ARGV[2 * i - 1], ARGV[2 * i]
    from[i] = ''
    if not seen[id] then
        for state, set in pairs(sets) do
            if redis.call('ZSCORE', set, id) then
                from[i] = state
            end
        end
        if from[i] == '' and string.sub(member, 18) == id then
            from[i] = redis.call('ZSCORE', reserved, member) and 'reserved' or ''
        end
    end
    if from[i] ~= '' then
        seen[id] = true
        gone[#gone + 1] = id
    elseif recorded and not seen[id] then
        local last = value_of(records_of({ id })[1], 't')
        if last and (number(last, 0, 1e12) or 0) > now then
            from[i] = 'ended'
            seen[id] = true
            ended[#ended + 1] = id
        end
    end
end
if #ended > 0 then
    redis.call('ZREM', unique, unpack(ended))
    redis.call('HDEL', records, unpack(ended))
end
if #gone == 0 then
    return from
end
for i = 1, total do
    local id = ARGV[2 * i - 1]
    if from[i] == 'reserved' then
        redis.call('ZREM', reserved, ARGV[2 * i])
        redis.call('PUBLISH', cancelled, ARGV[2 * i])
    elseif sets[from[i]] then
        redis.call('ZREM', sets[from[i]], id)
    end
end
local known = forget(gone)
count(stats, 'cancelled', #gone)
if known < #gone then
    count(stats, 'adopted', #gone - known)
end
return from
