-- @include now
-- @include number
-- @include spell

-- A line of jobs: `line_waiting` has the time at which each was ready, which is negative from when
-- the job is called until it has what it waits for. `line_due` says when each is due in `delayed`;
-- and, as `>` and the job, until when a place is kept for one that was called: for a second. That
-- is negative once it was called again.

-- Of the jobs that were called, from a score on: for how many is a place kept, how many have not
-- come in time, which have not come for a minute, and which not even for one more, after they were
-- called again? At most 100 are looked at.
local function called(from)
    local kept, late, again, gone, places = 0, 0, {}, {}, {}
    local jobs = redis.call('ZRANGEBYSCORE', line_waiting, from, '(0', 'LIMIT', 0, 100)
    for i = 1, #jobs do
        places[i] = '>' .. jobs[i]
    end
    local times = #jobs > 0 and redis.call('ZMSCORE', line_due, unpack(places)) or {}
    for i = 1, #jobs do
        local till = tonumber(times[i] or 0)
        if till > now then
            kept = kept + 1
        elseif math.abs(till) > now - 60 then
            late = late + 1
        elseif till > 0 then
            again[#again + 1] = jobs[i]
        else
            gone[#gone + 1] = jobs[i]
        end
    end
    return kept, late, again, gone
end

local function leave_line(job)
    if job ~= '' then
        redis.call('ZREM', line_waiting, job)
        redis.call('ZREM', line_due, job, '>' .. job)
    end
end
