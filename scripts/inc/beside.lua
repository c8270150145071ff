-- @include guard

-- What some queues keep beside their documents: five hashes by id, and `unique`. Most have nothing
-- of it: one look for all. Of `unique` how many ids it has.
local beside, uniques = {}, 0
if redis.call('EXISTS', attempts, crashes, interrupts, priorities, errors, unique) > 0 then
    beside = { attempts, crashes, interrupts, priorities, errors }
    uniques = redis.call('ZCARD', unique)
    guard(0, {}, beside)
end
