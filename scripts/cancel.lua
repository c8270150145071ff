-- cancel: drop jobs, whatever their state
-- KEYS   ready delayed reserved held dead jobs records unique stats
-- KEYS   cancelled waiting
-- ARGV   (id)...
-- reply  for each job the state it had, or '' where there is none; `ended`: no job, but its id was
--        taken still, and is free now
--
-- held  the set of the token under which the caller found reserved jobs (ZRANGE of `reserved`, then
--       ZSCORE in the set of each token); else any key of that kind. The reservation is withdrawn:
--       its holder gets LOST from its next call, and a message on the channel `cancelled`.

-- @include now
-- @include guard
-- @include owned
-- @include forget
-- @include count
-- @include flow
-- @include share
-- @include guard_fair

local total, withdrawn = #ARGV, 0
guard(total, { ready, delayed, reserved, held, dead, unique, waiting }, { jobs, stats })
guard_fair()

local sets = { ready = ready, delayed = delayed, dead = dead, waiting = waiting }
local from, gone, ended, seen, from_ready = {}, {}, {}, {}, {}
for i = 1, total do
    local id = ARGV[i]
    from[i] = ''
    if not seen[id] then
        for state, set in pairs(sets) do
            if redis.call('ZSCORE', set, id) then
                from[i] = state
            end
        end
        if from[i] == '' and redis.call('ZSCORE', held, id) then
            from[i] = 'reserved'
        end
    end
    if from[i] ~= '' then
        seen[id], from_ready[id] = true, from[i] == 'ready'
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
local texts = recorded and records_of(gone)
local members = texts and flow_of(gone, texts)
for i = 1, total do
    local id = ARGV[i]
    if from[i] == 'reserved' then
        take_out({ id })
        redis.call('PUBLISH', cancelled, token .. ':' .. id)
        withdrawn = withdrawn + 1
    elseif sets[from[i]] then
        redis.call('ZREM', sets[from[i]], id)
    end
end
local shared = texts and fair(texts, true)
if shared then
    local left, notes = {}, {}
    for i, id in ipairs(gone) do
        if from_ready[id] then
            left[#left + 1], notes[#notes + 1] = id, texts[i]
        end
    end
    shared.leave(left, notes)
end
local known = forget(gone)
count(stats, 'cancelled', #gone)
if withdrawn > 0 then
    count(stats, 'withdrawn', withdrawn)
end
if known < #gone then
    count(stats, 'adopted', #gone - known)
end
flow_tell(members, 'g')
return from
