-- heed: what is laid over the configuration of a queue? What has ended is dropped
-- KEYS   ready delayed jobs records wake paused stats overrides
-- ARGV   none
-- reply  1 if this is to be called again at once, else 0; then of each that lasts its name, as in
--        override, of a limit or of permits a space and `MAX PER` after it; and for how many more
--        seconds, '0': until somebody ends it
--
-- Jobs that a type's pause kept from running are in `delayed`, and in the zset `aside:T` beside
-- `overrides`, with the place that they had (return.lua). When the pause has ended they come back
-- to it, 500 a call. One that has been replaced, moved or delayed anew since then stays as it is:
-- tag `l` of its record says when it is due.

-- @include now
-- @include number
-- @include guard
-- @include wake
-- @include record
-- @include backwards
-- @include share
-- @include guard_fair

guard(0, { ready, delayed }, { jobs, stats })
guard_fair()
local base = string.sub(jobs, 1, -5)

-- Does it wait for the end of this pause, in `delayed` until `due`?
local function stands(text, due, kind)
    local told, of = string.match(value_of(text, 'l') or '', '^(%S+) t (%S+)$')
    return due and told and of == kind and tonumber(told) == tonumber(due)
end

-- Returns whether there are more.
local function bring_back(kind)
    local aside = base .. 'aside:' .. kind
    local rows, ids = redis.call('ZRANGE', aside, 0, 499, 'WITHSCORES'), {}
    for i = 1, #rows, 2 do
        ids[#ids + 1] = rows[i]
    end
    if #ids == 0 then
        return false
    end
    local dues, texts = redis.call('ZMSCORE', delayed, unpack(ids)), records_of(ids)
    local soon, mine, back, at = {}, {}, {}, {}
    for i = 1, #ids do
        if stands(texts[i], dues[i], kind) then
            local n = #back + 1
            back[n], mine[n], at[n] = ids[i], texts[i], n
            soon[2 * n - 1], soon[2 * n] = rows[2 * i] - rank(texts[i]), ids[i]
        end
    end
    local left = redis.call('ZREMRANGEBYRANK', aside, 0, #ids - 1) == 500
    if #back > 0 then
        redis.call('ZREM', delayed, unpack(back))
        local shared = fair(mine, true)
        if shared then
            shared.back(soon, mine, at)
        end
        redis.call('ZADD', ready, unpack(backwards(soon)))
        leave_wake(true)
    end
    return left
end

local reply, fields, gone = { 0 }, redis.call('HGETALL', overrides), 0
for i = 1, #fields, 2 do
    local name = fields[i]
    local till = tonumber(string.match(fields[i + 1], '^%S+ (%S+)') or 0) or 0
    local kind = string.match(name, '^type:(.*)')
    if till == 0 or till > now then
        reply[#reply + 1] = kind and name
            or name .. (string.match(fields[i + 1], '^%S+ %S+ %S+( %S+ %S+)') or '')
        reply[#reply + 1] = till > 0 and string.format('%.6f', till - now) or '0'
    elseif reply[1] == 0 and kind and bring_back(kind) then
        reply[1] = 1
    elseif reply[1] == 0 then
        redis.call('HDEL', overrides, name)
        gone = gone + 1
    end
end
if gone > 0 then
    local left = redis.call('HLEN', overrides)
    redis.call('HDEL', stats, 'overrides')
    if left > 0 then
        redis.call('HSET', stats, 'overrides', left)
    end
end
return reply
